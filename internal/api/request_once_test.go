package api_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// again reports whether a call was told that an earlier try may have made its
// change.
func again(call any) bool {
	if revoked, ok := call.(revokeCall); ok {
		return revoked.Before != ""
	}
	if picture, ok := call.(pictureCall); ok {
		return picture.Before != nil
	}
	field := reflect.ValueOf(call).FieldByName("Again")
	return field.IsValid() && field.Bool()
}

// acts are the calls that change something.
func acts(s *server) (calls []any) {
	for _, call := range s.account.groupAdmin.made() {
		if _, reads := call.(linkCall); !reads {
			calls = append(calls, call)
		}
	}
	return calls
}

func (s *server) keyedCall(r route, body, key string) (status int, code string, answer map[string]any, replayed bool) {
	s.t.Helper()
	got := s.Do(r.method, r.path, body, append([]string{"Idempotency-Key", key}, r.headers...)...)
	got.Decode(&answer)
	if got.Status != http.StatusOK {
		code = got.Code()
	}
	return got.Status, code, answer, got.Header.Get("Idempotency-Replayed") == "true"
}

// The same key and body is the same answer, and one change, on every route.
func TestRequestOnce_RepeatTheAnswer(t *testing.T) {
	t.Parallel()
	onEvery(t, changingGroups, func(t *testing.T, s *server, r route) {
		status, _, first, replayed := s.keyedCall(r, r.body, "k")
		if status != 200 || replayed {
			t.Fatalf("first call: %d, replayed %v", status, replayed)
		}
		s.account.closed() // a replay needs no socket
		status, _, second, replayed := s.keyedCall(r, r.body, "k")
		if status != 200 || !replayed {
			t.Errorf("second call: %d, replayed %v", status, replayed)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("answers differ: %s", diff)
		}
		if n := len(acts(s)); n != 1 {
			t.Errorf("%d changes, want 1", n)
		}
		if status, code, _, _ := s.keyedCall(r, r.body, "two words"); status != 400 || code != "invalid_request" {
			t.Errorf("a bad key: %d %s", status, code)
		}
		s.account.ready = func() error { return nil }
		if status, _, _, _ := s.keyedCall(r, r.body, "another"); status != 200 || len(acts(s)) != 2 {
			t.Errorf("another key: %d, %d changes", status, len(acts(s)))
		}
	})
}

func TestRequestOnce_AKeyIsBoundToBodyPathAndRoute(t *testing.T) {
	t.Parallel()
	onEvery(t, changingGroups, func(t *testing.T, s *server, r route) {
		s.know(members(olden, "Old", grace, me))
		if status, _, _, _ := s.keyedCall(r, r.body, "k"); status != 200 {
			t.Fatal(status)
		}
		others := []route{{method: "POST", path: "/api/messages/send", body: `{"jid":"` + string(grace) + `","text":"x"}`}}
		if r.missing != "" { // it names a group
			other := r
			other.path = replaceGroup(r.path, olden)
			others = append(others, other)
		}
		if r.body != "" {
			other := r
			other.body += " "
			others = append(others, other)
		}
		for _, other := range others {
			if status, code, _, _ := s.keyedCall(other, other.body, "k"); status != 422 || code != "idempotency_mismatch" {
				t.Errorf("%s %s %q: %d %s", other.method, other.path, other.body, status, code)
			}
		}
		if n := len(acts(s)); n != 1 || len(s.account.sent()) != 0 {
			t.Errorf("%d changes, %d messages", n, len(s.account.sent()))
		}
	})
}

func TestRequestOnce_WhileTheFirstIsInProgress(t *testing.T) {
	t.Parallel()
	onEvery(t, changingGroups, func(t *testing.T, s *server, r route) {
		entered, proceed, done := make(chan struct{}), make(chan struct{}), make(chan int)
		s.account.groupAdmin.do = func(call any) error {
			if _, reads := call.(linkCall); !reads {
				close(entered)
				<-proceed
			}
			return nil
		}
		go func() {
			status, _, _, _ := s.keyedCall(r, r.body, "k")
			done <- status
		}()
		<-entered
		if status, code, _, _ := s.keyedCall(r, r.body, "k"); status != 409 || code != "request_in_progress" {
			t.Errorf("meanwhile: %d %s", status, code)
		}
		close(proceed)
		if status := <-done; status != 200 {
			t.Errorf("first call: %d", status)
		}
	})
}

// After an unknown outcome the repeated call is told so, and its answer is kept.
// After a refusal it is a call like the first.
func TestRequestOnce_ARepeatKnowsHowTheFirstEnded(t *testing.T) {
	t.Parallel()
	onEvery(t, changingGroups, func(t *testing.T, s *server, r route) {
		// A patch compares with the group in any case; a picture that is removed twice is removed.
		knows := r.method != "PATCH" && !(r.method == "DELETE" && strings.HasSuffix(r.path, "/picture"))
		try := func(err error, wantStatus int) any {
			t.Helper()
			s.account.groupAdmin.do = func(call any) error {
				if _, reads := call.(linkCall); reads {
					return nil
				}
				return err
			}
			if status, code, _, replayed := s.keyedCall(r, r.body, "k"); status != wantStatus || replayed {
				t.Fatalf("%d %s, want %d", status, code, wantStatus)
			}
			calls := acts(s)
			return calls[len(calls)-1]
		}
		if again(try(bridge.Fail(bridge.CodeGroupFull, "no"), 409)) {
			t.Error("the first call is a repeat")
		}
		if again(try(bridge.Fail(bridge.CodeSendTimeout, "?"), 504)) {
			t.Error("a call after a refusal is told of an unknown outcome")
		}
		if again(try(bridge.NotConnected("?"), 503)) != knows || again(try(nil, 200)) != knows {
			t.Error("a call after an unknown outcome is not told so")
		}
		if status, _, _, replayed := s.keyedCall(r, r.body, "k"); status != 200 || !replayed {
			t.Errorf("in the end: %d, replayed %v", status, replayed)
		}
	})
}

// A group that the network has told of since is known to the repeated call, and
// so are those that it did not make.
func TestRequestOnce_ANewGroupIsToldFromOthers(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	body := `{"name":"Readers","participants":["` + string(grace) + `"]}`
	r := route{method: "POST", path: "/api/groups"}
	fail := func(any) error { return bridge.Fail(bridge.CodeSendTimeout, "?") }
	s.account.groupAdmin.do = fail
	s.keyedCall(r, body, "first")
	s.keyedCall(r, body, "second")
	calls := acts(s)
	one, two := calls[0].(bridge.NewGroup), calls[1].(bridge.NewGroup)
	if one.Key == two.Key {
		t.Fatal("two groups have one key")
	}
	const made = bridge.JID("120363000000000002@g.us")
	s.know(members(made, "Readers", me, grace), bridge.GroupMade{Key: one.Key, JID: made}, bridge.GroupMade{Key: "SOMETHING ELSE", JID: olden})
	s.keyedCall(r, body, "first")
	s.keyedCall(r, body, "second")
	calls = acts(s)
	if first := calls[2].(bridge.NewGroup); first.Made != made || !first.Again || first.Key != one.Key {
		t.Errorf("the first is repeated as %+v", first)
	}
	second := calls[3].(bridge.NewGroup)
	if diff := cmp.Diff(bridge.NewGroup{Name: "Readers", Participants: []bridge.JID{grace}, Key: two.Key, Again: true, Known: []bridge.JID{club, made}}, second); diff != "" {
		t.Errorf("the second is repeated as: %s", diff)
	}
}

func replaceGroup(path string, group bridge.JID) string {
	return strings.Replace(path, string(club), string(group), 1)
}
