package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestChecks_AnswerInOrder(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var got map[string]any
	s.Post("/api/contacts/check", object{"phones": []string{"+1 (555) 765-4321", "0049 151/234 56782", "15557654321"}}).Want(http.StatusOK).Decode(&got)
	known := map[string]any{"phone": "15557654321", "jid": "15557654321@s.whatsapp.net", "isBusiness": false}
	want := map[string]any{"results": []any{known, map[string]any{"phone": "4915123456782", "jid": nil, "isBusiness": false}, known}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestChecks_RefuseWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.account.checkNumbers = func(phones []string) ([]bridge.NumberCheck, error) {
		t.Errorf("asked about %v", phones)
		return nil, nil
	}
	many := strings.TrimSuffix(strings.Repeat(`"15557654321",`, 51), ",")
	for body, says := range map[string]string{
		``: "empty", `[]`: "object", `{}`: "phones", `{"phones":null}`: "phones", `{"phones":[]}`: "phones", `{"phones":"15557654321"}`: "phones",
		`{"phones":[` + many + `]}`: "50", `{"phones":[15557654321]}`: "phones", `{"phones":["15557654321","x"]}`: "phones[1]", `{"phones":[""]}`: "phones[0]",
		`{"phones":["0151 23456789"]}`: "country code", `{"phones":["12345"]}`: "phones[0]", `{"phones":["` + strings.Repeat("1 ", 40) + `"]}`: "64",
		`{"phones":["15557654321"],"phone":"1"}`: "phone", `{"phones":["15557654321"],"phones":["15557654321"]}`: "phones",
		`{"phones":["15557654321@s.whatsapp.net"]}`: "E.164",
	} {
		got := s.Do(http.MethodPost, "/api/contacts/check", body)
		if got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), says) {
			t.Errorf("%.60s: %d %s", body, got.Status, got.Body)
		}
	}
	s.Do(http.MethodPost, "/api/contacts/check", `{"phones":["`+strings.Repeat("1", 1<<20)+`"]}`).Want(http.StatusRequestEntityTooLarge)
	s.Do(http.MethodGet, "/api/contacts/check", "").Want(http.StatusBadRequest) // the path of one contact, who is none
}

func TestChecks_OfATokenWithChats(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	limited := s.as(s.token(fmt.Sprintf(`{"name":"x","scopes":["read"],"chats":[%q,"5215512345678@s.whatsapp.net"]}`, graceLID)))
	asked := 0
	s.account.checkNumbers = func(phones []string) ([]bridge.NumberCheck, error) {
		asked++
		return s.account.knowOdd(phones)
	}
	limited.Post("/api/contacts/check", object{"phones": []string{grace.User(), "525512345678"}}).Want(http.StatusOK)
	limited.Post("/api/contacts/check", object{"phones": []string{grace.User(), alan.User()}}).Want(http.StatusNotFound)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestChecks_NeedNoGate(t *testing.T) {
	t.Parallel()
	s := newServer(t, sendDisabled)
	s.Post("/api/contacts/check", object{"phones": []string{grace.User()}}).Want(http.StatusOK)
}

func TestChecks_FailuresOfNetworkAndService(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for code, want := range map[bridge.Code]int{
		bridge.CodeLookUpsLimited: 429, bridge.CodeRateLimited: 429, bridge.CodeSendRefused: 502, bridge.CodeNotConnected: 503,
		bridge.CodeStorageUnavailable: 503, bridge.CodeInternal: 500,
	} {
		s.account.refuseAll(&bridge.Error{Code: code, Msg: "x", RetryAfter: 90 * time.Second})
		got := s.Post("/api/contacts/check", object{"phones": []string{grace.User()}})
		if got.Status != want || want == 429 && got.Header.Get("Retry-After") != "90" {
			t.Errorf("%s: %d, Retry-After %q", code, got.Status, got.Header.Get("Retry-After"))
		}
	}
}
