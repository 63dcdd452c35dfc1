package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A field that a send does not know is named in the answer, also when the call is repeated. A caller that asks
// for it gets a refusal instead, and nothing is sent.
func TestSend_NamesWhatItIgnored(t *testing.T) {
	t.Parallel()
	onEvery(t, sending, func(t *testing.T, s *server, r route) {
		if !strings.HasPrefix(r.body, "{") || !strings.HasPrefix(r.path, "/api/messages/") {
			return
		}
		misspelt := strings.Replace(r.body, "{", `{"linkPreviw":true,`, 1)
		refused := s.Do(r.method, r.path, misspelt, "Prefer", "handling=strict")
		if refused.Status != http.StatusBadRequest || !strings.Contains(refused.Error(), "linkPreviw is not a field of this request") {
			t.Errorf("a strict call: %d %s", refused.Status, refused.Body)
		}
		if n := len(s.account.sent()) + len(s.account.done()); n != 0 {
			t.Errorf("%d messages after a refusal", n)
		}
		for _, again := range []bool{false, true} {
			status, answer, replayed := s.callKeyed("k", r, misspelt)
			if ignored, _ := answer["ignored"].([]any); status != http.StatusOK || replayed != again || !slices.Equal(ignored, []any{"linkPreviw"}) {
				t.Errorf("replayed %v: %d %v", replayed, status, answer)
			}
		}
		if _, answer, _ := s.callKeyed("other", r, r.body); answer["ok"] != true || answer["ignored"] != nil {
			t.Errorf("without an unknown field: %v", answer)
		}
	})
}

func TestSend_NamesWhatItIgnoredInside(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for body, want := range map[string][]string{
		`{"jid":"15557654321@s.whatsapp.net","contacts":[{"displayName":"Ada","fone":"1"},{"displayName":"Alan","phone":"447700900123","x":{"y":1}}]}`: {"contacts[0].fone", "contacts[1].x"},
		`{"JID":"x","jid":"15557654321@s.whatsapp.net","contacts":[{"displayName":"Ada","sendAt":""}],"sendat":"2030-01-01"}`:                          {"JID", "contacts[0].sendAt", "sendat"},
	} {
		var answer struct{ Ignored []string }
		s.Post("/api/messages/send-contact", body).Want(http.StatusOK).Decode(&answer)
		if !slices.Equal(answer.Ignored, want) {
			t.Errorf("%s: %q, want %q", body, answer.Ignored, want)
		}
	}
}
