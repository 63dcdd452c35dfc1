package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// aCall is a call as the API shows it.
func aCall(id, state string) string {
	return `{"id":"` + id + `","chatJid":"` + grace + `","fromJid":"` + grace + `","fromLid":null,"isGroup":false,"isVideo":true,"state":"` + state +
		`","startedAt":"2026-11-21T08:15:30.000Z","endedAt":null}`
}

// A ringing call can be declined with the scope send. Other calls show how they ended.
func TestCalls_AreShownAndRejected(t *testing.T) {
	t.Parallel()
	answers := map[string]http.HandlerFunc{
		"/api/calls":           replies(`{"count":2,"calls":[` + aCall("K1", "ringing") + `,` + aCall("K2", "missed") + `],"nextCursor":"next"}`),
		"/api/calls/K1/reject": replies(`{"ok":true,"id":"K1","chatJid":"` + grace + `"}`),
		"/api/contacts":        replies(contactsList(knownContact(grace, "Grace <b>", "Gracie"))),
	}
	s, all := overAPI(t, answers)
	form := url.Values{"csrf": {s.logIn().csrf()}}
	for _, path := range []string{"/console/calls", "/console/"} {
		page := s.get(path).want(t, http.StatusOK, "").body
		for what, count := range map[string]int{"Grace &lt;b&gt;": 2, "Missed": 1, `action="/console/calls/K1/reject"`: 1, "/console/calls/K2": 0} {
			if got := strings.Count(page, what); got != count {
				t.Errorf("%s has %q %d times, want %d", path, what, got, count)
			}
		}
	}
	if page := s.get("/console/calls").body; !strings.Contains(page, "/console/calls?cursor=next") {
		t.Error("there is no way to earlier calls")
	}
	*all = nil
	s.do(http.MethodPost, "/console/calls/K1/reject", url.Values{}).want(t, http.StatusForbidden, "")
	s.do(http.MethodPost, "/console/calls/K1/reject", form).want(t, http.StatusSeeOther, "/console/calls")
	if done := writes(*all); len(done) != 1 || done[0].path != "/api/calls/K1/reject" || done[0].header.Get("Idempotency-Key") == "" {
		t.Errorf("sent %+v", done)
	}
	s.do(http.MethodPost, "/logout", form)
	s.try("brt_LIMITED")
	if page := s.get("/console/calls").want(t, http.StatusOK, "").body; strings.Contains(page, "/reject") {
		t.Error("a visitor who may not send is offered to reject")
	}
}
