package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
)

// keyed posts with an Idempotency-Key.
func (s *server) keyed(key, route string, body any, headers ...string) (status int, answer map[string]any, replayed bool) {
	s.t.Helper()
	return answered(s.Post("/api/messages/"+route, body, append([]string{"Idempotency-Key", key}, headers...)...))
}

// callKeyed calls a route with an Idempotency-Key.
func (s *server) callKeyed(key string, r route, body string) (status int, answer map[string]any, replayed bool) {
	s.t.Helper()
	return answered(s.Do(r.method, r.path, body, append([]string{"Idempotency-Key", key}, r.headers...)...))
}

func answered(got apitest.Response) (status int, answer map[string]any, replayed bool) {
	got.Decode(&answer)
	return got.Status, answer, got.Header.Get("Idempotency-Replayed") == "true"
}

// The same key and body is the same answer, and one message, on every route.
func TestIdempotency_RepeatsTheAnswer(t *testing.T) {
	t.Parallel()
	onEvery(t, sending, func(t *testing.T, s *server, r route) {
		status, first, replayed := s.callKeyed("k", r, r.body)
		if status != 200 || replayed {
			t.Fatalf("first call: %d, replayed %v", status, replayed)
		}
		s.account.closed() // a replay needs no socket
		status, second, replayed := s.callKeyed("k", r, r.body)
		if status != 200 || !replayed {
			t.Errorf("second call: %d, replayed %v", status, replayed)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("answers differ: %s", diff)
		}
		if n := len(s.account.sent()) + len(s.account.done()); n != 1 {
			t.Errorf("%d messages, want 1", n)
		}
	})
}

func TestIdempotency_OtherBodyOrRouteIsAMismatch(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	body := `{"jid":"15557654321@s.whatsapp.net","text":"hi","latitude":1,"longitude":1}`
	if status, _, _ := s.keyed("k", "send", body); status != 200 {
		t.Fatal(status)
	}
	for route, body := range map[string]string{"send": strings.Replace(body, "hi", "ho", 1), "send-location": body} {
		if status, answer, _ := s.keyed("k", route, body); status != 422 || answer["code"] != "idempotency_mismatch" {
			t.Errorf("%s: %d %v", route, status, answer)
		}
	}
	if status, _, _ := s.keyed("another", "send-location", body); status != 200 {
		t.Error("another key was refused")
	}
}

func TestIdempotency_WhileTheFirstIsInProgress(t *testing.T) {
	t.Parallel()
	onEvery(t, sending, func(t *testing.T, s *server, r route) {
		entered, proceed, done := make(chan struct{}), make(chan struct{}), make(chan int)
		s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
			close(entered)
			<-proceed
			return s.account.accept(ctx, out)
		}
		s.account.act = func(context.Context) error {
			close(entered)
			<-proceed
			return nil
		}
		go func() {
			status, _, _ := s.callKeyed("k", r, r.body)
			done <- status
		}()
		<-entered
		if status, answer, _ := s.callKeyed("k", r, r.body); status != 409 || answer["code"] != "request_in_progress" {
			t.Errorf("same body: %d %v", status, answer)
		}
		if status, answer, _ := s.callKeyed("k", r, r.other()); status != 422 || answer["code"] != "idempotency_mismatch" {
			t.Errorf("other body: %d %v", status, answer)
		}
		close(proceed)
		if status := <-done; status != 200 {
			t.Errorf("first call: %d", status)
		}
		if status, _, replayed := s.callKeyed("k", r, r.body); status != 200 || !replayed {
			t.Errorf("after it: %d, replayed %v", status, replayed)
		}
	})
}

// A key whose message was stored but never confirmed is the same message
// again, whatever happened: crash, time-out, refusal.
func TestIdempotency_UnconfirmedMessageGoesAgainUnderItsID(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(*server, bridge.Message) error{
		"process died": func(*server, bridge.Message) error { return nil },
		"failed": func(s *server, m bridge.Message) error {
			return s.store.Save(context.Background(), bridge.SendResult{Chat: m.Chat, ID: m.ID, Status: bridge.DeliveryFailed})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stocked(t)
			var begun bridge.Message
			s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
				m, err := s.account.begin(ctx, out)
				begun = m
				return bridge.Sent{}, errors.Join(errors.New("cut off"), err, interrupt(s, m))
			}
			s.keyed("k", "send", text(grace, "hi"))
			s.account.closed()
			if status, _, _ := s.keyed("k", "send", text(grace, "hi")); status != 503 {
				t.Errorf("while closed: %d, want 503", status)
			}
			s.account.ready = func() error { return nil }
			status, answer, replayed := s.keyed("k", "send", text(grace, "hi"))
			if status != 200 || answer["msgId"] != begun.ID || replayed {
				t.Errorf("%d %v, replayed %v; want the id %s sent now", status, answer, replayed, begun.ID)
			}
			if len(s.account.sent()) != 1 || len(s.account.resent) != 1 || s.account.resent[0].ID != begun.ID || len(s.account.resent[0].Raw) == 0 {
				t.Errorf("sent %d, resent %d", len(s.account.sent()), len(s.account.resent))
			}
		})
	}
}

// A call that was refused before anything was stored leaves its key free.
func TestIdempotency_RefusedCallLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.account.closed()
	if status, _, _ := s.keyed("k", "send", text(grace, "hi")); status != 503 {
		t.Fatal(status)
	}
	if status, _, _ := s.keyed("k", "send", with(text(grace, "hi"), "quotedMsgId", "NONE")); status != 404 {
		t.Fatal(status)
	}
	s.account.ready = func() error { return nil }
	if status, _, replayed := s.keyed("k", "send", text(alan, "ho")); status != 200 || replayed {
		t.Errorf("%d, replayed %v", status, replayed)
	}
}

func TestIdempotency_KeyForms(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, key := range []string{"", " ", "two words", "tab\there", "ключ", strings.Repeat("k", 256)} {
		got := s.Post("/api/messages/send", text(grace, "hi"), "Idempotency-Key", key)
		if got.Status != http.StatusBadRequest || !strings.Contains(got.Error(), "Idempotency-Key") {
			t.Errorf("%q: %d %s", key, got.Status, got.Body)
		}
	}
	for _, key := range []string{"k", "!~", strings.Repeat("k", 255), "3f2504e0-4f89-11d3-9a0c-0305e82c3301"} {
		if status, _, _ := s.keyed(key, "send", text(grace, "hi")); status != 200 {
			t.Errorf("%q: %d", key, status)
		}
	}
}
