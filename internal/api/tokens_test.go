package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api"
	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

// madeToken is the answer to a token that was made.
type madeToken struct {
	bridge.Token
	Secret string
}

// token makes a token.
func (s *server) token(body string) madeToken {
	s.t.Helper()
	var made madeToken
	s.Post("/api/tokens", body).Want(http.StatusCreated).Decode(&made)
	return made
}

// as returns the same server for the holder of a token.
func (s *server) as(made madeToken) *server {
	other := *s
	other.Client = s.WithToken(made.Secret)
	return &other
}

func TestTokens_TheSecretIsShownOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.token(`{"name":" desk ","scopes":["send","read","read"],"chats":["` + string(grace) + `"],"expiresAt":"2126-01-01T00:00:00Z"}`)
	if !strings.HasPrefix(made.Secret, "brt_") || len(made.Secret) < 30 {
		t.Fatalf("secret %q", made.Secret)
	}
	end := bridge.At(time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC))
	want := bridge.Token{
		ID: made.ID, Name: "desk", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}, Chats: []bridge.JID{grace},
		ExpiresAt: &end, CreatedAt: made.CreatedAt,
	}
	if diff := cmp.Diff(want, made.Token); diff != "" {
		t.Error(diff)
	}
	one := s.Get(fmt.Sprint("/api/tokens/", made.ID)).Want(http.StatusOK)
	all := s.Get("/api/tokens").Want(http.StatusOK)
	for _, body := range [][]byte{one.Body, all.Body, []byte(s.log.String())} {
		if strings.Contains(string(body), made.Secret) {
			t.Errorf("the secret is shown again: %s", body)
		}
	}
	var self struct {
		Name    string
		Scopes  []bridge.Scope
		Chats   []bridge.JID
		Account *bridge.User
	}
	s.as(made).Get("/api/token").Want(http.StatusOK).Decode(&self)
	if self.Name != "desk" || len(self.Scopes) != 2 || len(self.Chats) != 1 || self.Account == nil || self.Account.JID == "" {
		t.Errorf("self: %+v", self)
	}
	s.Get("/api/token").Want(http.StatusOK).Decode(&self)
	if self.Name != "BRIDGE_TOKEN" || len(self.Scopes) != 3 || self.Chats != nil {
		t.Errorf("BRIDGE_TOKEN itself: %+v", self)
	}
}

func TestTokens_RefuseWhatIsNoToken(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for body, says := range map[string]string{
		`{"scopes":["read"]}`: "name",
		`{"name":"` + strings.Repeat("x", 101) + `","scopes":["read"]}`:                   "name",
		`{"name":"a\nb","scopes":["read"]}`:                                               "name",
		`{"name":"x"}`:                                                                    "scopes",
		`{"name":"x","scopes":[]}`:                                                        "scopes",
		`{"name":"x","scopes":["admin"]}`:                                                 "scopes",
		`{"name":"x","scopes":["read"],"chats":[]}`:                                       "chats",
		`{"name":"x","scopes":["read"],"chats":["status@broadcast"]}`:                     "chats",
		`{"name":"x","scopes":["read"],"chat":["` + string(grace) + `"]}`:                 "chat",
		`{"name":"x","scopes":["read"],"expiresAt":"2020-01-01T00:00:00Z"}`:               "expiresAt",
		`{"name":"x","scopes":["read"],"expiresAt":"tomorrow"}`:                           "expiresAt",
		`{"name":"x","scopes":["read","read","read","read","read","read","read","read"]}`: "scopes",
	} {
		got := s.Post("/api/tokens", body).Want(http.StatusBadRequest)
		if got.Code() != "invalid_request" || !strings.Contains(got.Error(), says) {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	for _, path := range []string{"/api/tokens/7", "/api/tokens/x"} {
		s.Get(path).Want(http.StatusNotFound)
		s.Do(http.MethodDelete, path, "").Want(http.StatusNotFound)
	}
}

// A token that cannot be removed from the store opens nothing all the same, nor do those that it made.
func TestTokens_AreRevokedIfTheStoreCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.token(`{"name":"x","scopes":["read","manage"]}`)
	child := s.as(made).token(`{"name":"y","scopes":["read"]}`)
	other := s.token(`{"name":"z","scopes":["read"]}`)
	s.fault.Set(errors.New("no more room"))
	got := s.Do(http.MethodDelete, fmt.Sprint("/api/tokens/", made.ID), "").Want(http.StatusServiceUnavailable)
	if got.Code() != "storage_unavailable" || !strings.Contains(got.Error(), "revoke it again") {
		t.Errorf("answer: %s", got.Body)
	}
	s.as(made).Get("/api/chats").Want(http.StatusUnauthorized)
	s.as(child).Get("/api/chats").Want(http.StatusUnauthorized)
	s.as(other).Get("/api/chats").Want(http.StatusOK)
	s.fault.Set(nil)
	s.Do(http.MethodDelete, fmt.Sprint("/api/tokens/", made.ID), "").Want(http.StatusOK)
	s.Get(fmt.Sprint("/api/tokens/", child.ID)).Want(http.StatusNotFound)
}

func TestTokens_OfNobodyAreUnauthorized(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.token(`{"name":"x","scopes":["read"]}`)
	for _, secret := range []string{"brt_", "brt_AAAAAAAAAAAAAAAAAAAAAAAAAA", made.Secret + "A", strings.ToLower(made.Secret), made.Secret[4:]} {
		s.WithToken(secret).Get("/api/chats").Want(http.StatusUnauthorized)
	}
	s.as(made).Get("/api/chats").Want(http.StatusOK)
}

func TestTokens_NoteTheirLastUse(t *testing.T) {
	t.Parallel()
	now := noon
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	made := s.token(`{"name":"x","scopes":["read"]}`)
	created := made.CreatedAt.Time
	for _, c := range []struct {
		later time.Duration
		shown time.Time
	}{
		{time.Millisecond, created}, // its minute began before it was made
		{90 * time.Second, created.Add(90 * time.Second).Truncate(time.Minute)},
	} {
		now = created.Add(c.later)
		s.as(made).Get("/api/chats").Want(http.StatusOK)
		var got bridge.Token
		s.Get(fmt.Sprint("/api/tokens/", made.ID)).Want(http.StatusOK).Decode(&got)
		if got.LastUsedAt == nil || !got.LastUsedAt.Equal(c.shown) {
			t.Errorf("made at %v, used %v later: used at %v", created, c.later, got.LastUsedAt)
		}
	}
	s.fault.Set(fmt.Errorf("drill"))
	now = created.Add(time.Hour)
	s.as(made).Get("/api/chats").Want(http.StatusOK)
}

func TestTokens_MakeNothingThatMayDoMore(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	s.know(say(grace, grace, "M1", "hello", 0))
	maker := s.as(s.token(`{"name":"maker","scopes":["manage","read"],"chats":["` + string(grace) + `"],"expiresAt":"2126-01-01T00:00:00Z"}`))
	for _, body := range []string{
		`{"name":"x","scopes":["send"],"chats":["` + string(grace) + `"]}`,
		`{"name":"x","scopes":["read"]}`,
		`{"name":"x","scopes":["read"],"chats":["` + string(grace) + `","` + string(alan) + `"]}`,
		`{"name":"x","scopes":["read"],"chats":["` + string(grace) + `"],"expiresAt":"2126-01-01T00:00:01Z"}`,
	} {
		if got := maker.Post("/api/tokens", body).Want(http.StatusForbidden); got.Code() != "forbidden" {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	child := maker.token(`{"name":"child","scopes":["manage"],"chats":["` + string(grace) + `"]}`)
	if child.ExpiresAt == nil {
		t.Error("the child outlives its maker")
	}
	s.as(child).Post("/api/webhooks", `{"url":"https://example.com/x"}`).Want(http.StatusForbidden)
	other := s.token(`{"name":"other","scopes":["manage"]}`)
	hook := s.create(object{"url": "https://example.com/x"})
	for _, path := range []string{fmt.Sprint("/api/tokens/", other.ID), fmt.Sprint("/api/webhooks/", hook.ID), fmt.Sprint("/api/webhooks/", hook.ID, "/deliveries")} {
		maker.Get(path).Want(http.StatusNotFound)
	}
	var seen struct{ Tokens []bridge.Token }
	maker.Get("/api/tokens").Want(http.StatusOK).Decode(&seen)
	if len(seen.Tokens) != 2 {
		t.Errorf("the maker sees %+v", seen.Tokens)
	}
	var hooks struct{ Count int }
	maker.Get("/api/webhooks").Want(http.StatusOK).Decode(&hooks)
	if hooks.Count != 0 {
		t.Errorf("the maker sees %d webhooks", hooks.Count)
	}
}

func TestTokens_EndWithAllThatWasMadeWithThem(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	parent := s.token(`{"name":"parent","scopes":["manage","read"]}`)
	child := s.as(parent).token(`{"name":"child","scopes":["manage","read"]}`)
	hook := hooked{s.as(child), s.receiver}.create(object{"url": "https://example.com/x"})
	s.Do(http.MethodDelete, fmt.Sprint("/api/tokens/", parent.ID), "").Want(http.StatusOK)
	for _, ended := range []madeToken{parent, child} {
		s.as(ended).Get("/api/token").Want(http.StatusUnauthorized)
	}
	s.Get(fmt.Sprint("/api/webhooks/", hook.ID)).Want(http.StatusNotFound)
	self := s.token(`{"name":"self","scopes":["manage"]}`)
	s.as(self).Do(http.MethodDelete, fmt.Sprint("/api/tokens/", self.ID), "").Want(http.StatusOK)
	s.as(self).Get("/api/token").Want(http.StatusUnauthorized)
}

func TestTokens_StreamsAndWaitsEndWithThem(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, end := range map[string]func() madeToken{
		"revoked": func() madeToken { return s.token(`{"name":"x","scopes":["read"]}`) },
		"expired": func() madeToken {
			soon, err := json.Marshal(bridge.At(time.Now().Add(3 * time.Second)))
			if err != nil {
				t.Fatal(err)
			}
			return s.token(`{"name":"x","scopes":["read"],"expiresAt":` + string(soon) + `}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := end()
			waiting := make(chan apitest.Response, 1)
			stream := s.as(made).streamAs(made.Secret)
			go func() { waiting <- s.as(made).Get("/api/events?after=now&wait=60s") }()
			if name == "revoked" {
				s.Do(http.MethodDelete, fmt.Sprint("/api/tokens/", made.ID), "").Want(http.StatusOK)
			}
			for {
				if _, err := stream.next(); err != nil {
					break
				}
			}
			if got := <-waiting; got.Status != http.StatusUnauthorized {
				t.Errorf("a reader that waited got %d %s", got.Status, got.Body)
			}
			s.as(made).Get("/api/events").Want(http.StatusUnauthorized)
		})
	}
}

func TestTokens_KeysOfTwoCallersHaveNothingToDoWithEachOther(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	sender := s.as(s.token(`{"name":"x","scopes":["send"]}`))
	key := []string{"Idempotency-Key", "k1"}
	body := map[string]any{"jid": grace, "text": "one"}
	first := s.Post("/api/messages/send", body, key...).Want(http.StatusOK)
	second := sender.Post("/api/messages/send", map[string]any{"jid": grace, "text": "two"}, key...).Want(http.StatusOK)
	again := sender.Post("/api/messages/send", map[string]any{"jid": grace, "text": "two"}, key...).Want(http.StatusOK)
	var ids [3]struct{ MsgID string }
	first.Decode(&ids[0])
	second.Decode(&ids[1])
	again.Decode(&ids[2])
	if ids[0] == ids[1] || ids[1] != ids[2] {
		t.Errorf("ids %v", ids)
	}
}

// Nothing that breaks inside gets out, and a store that does not answer is 503.
func TestTokens_FailuresOfTheService(t *testing.T) {
	t.Parallel()
	calls := [][3]string{
		{http.MethodGet, "/api/tokens", ""},
		{http.MethodPost, "/api/tokens", `{"name":"x","scopes":["read"]}`},
		{http.MethodGet, "/api/tokens/1", ""},
		{http.MethodDelete, "/api/tokens/1", ""},
	}
	nothing := newServer(t, func(o *api.Options) { o.Store = nil })
	closed := newServer(t)
	if err := closed.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		nothing.Do(call[0], call[1], call[2]).Want(http.StatusInternalServerError)
		if got := closed.Do(call[0], call[1], call[2]).Want(http.StatusServiceUnavailable); got.Code() != "storage_unavailable" {
			t.Errorf("%s %s: %s", call[0], call[1], got.Code())
		}
	}
	nothing.WithToken("brt_x").Get("/api/token").Want(http.StatusInternalServerError)
	closed.WithToken("brt_x").Get("/api/token").Want(http.StatusServiceUnavailable)
	newServer(t).Post("/api/tokens", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`).Want(http.StatusRequestEntityTooLarge)
}
