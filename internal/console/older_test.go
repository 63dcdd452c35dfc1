package console_test

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bridged/internal/console"
)

// Above the oldest stored message, the page offers to ask the phone for older ones, unless the phone cannot be asked.
func TestOlder_IsOfferedIfPossible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, cursor, id, address string
		off, limited, offered       bool
	}{
		"connected":             {offered: true},
		"another page":          {cursor: `"C1"`},
		"newer messages":        {address: "?newer=C1"},
		"exported":              {id: "EXPORT-1"},
		"not connected":         {status: `{"status":"connecting"}`},
		"off":                   {off: true},
		"a token that may read": {limited: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := aChat()
			message := strings.Replace(aMessage(cmp.Or(c.id, "OWN"), true, "50"), `"status"`, `"imported":true,"status"`, 1)
			answers["/api/chats/"+grace+"/messages"] = replies(`{"jid":"` + grace + `","count":1,"messages":[` + message + `],"nextCursor":` + cmp.Or(c.cursor, "null") + `}`)
			s, _ := overAPI(t, answers, func(o *console.Options) { o.AsksPhone = !c.off })
			s.status = c.status
			if c.limited {
				s.try("brt_LIMITED")
			} else {
				s.logIn()
			}
			for _, address := range []string{c.address, "?part" + strings.Replace(c.address, "?", "&", 1)} {
				page := s.get(gracePath+address).want(t, http.StatusOK, "").body
				if strings.Contains(page, `action="`+gracePath+`/older"`) != c.offered {
					t.Errorf("%q offers it: %v", address, !c.offered)
				}
			}
		})
	}
}

// Without the script, the form leads to the oldest message, and a refusal is said in words for people.
func TestOlder_WithoutScript(t *testing.T) {
	t.Parallel()
	answers := aChat()
	s, _ := overAPI(t, answers)
	form := url.Values{"csrf": {s.logIn().csrf()}}
	answers["/api/chats/"+grace+"/history"] = replies(`{"requestId":"R1","chatJid":"` + grace + `","count":50,"before":{"msgId":"HERS","timestamp":"2026-11-21T11:20:00.000Z"}}`)
	s.do(http.MethodPost, gracePath+"/older", form).want(t, http.StatusSeeOther, gracePath+"?at=HERS")
	if page := s.get(gracePath+"?at=HERS").want(t, http.StatusOK, "").body; !strings.Contains(page, "Asking your phone. Keep it online. Reload this page in a moment.") {
		t.Errorf("the page is\n%s", page)
	}
	for code, want := range map[string]string{
		"no_more_history": "Your phone has no older messages of this chat.",
		"only_on_phone":   "You can read older messages of this chat on your phone only.",
		"not_connected":   "Can’t reach WhatsApp.",
	} {
		answers["/api/chats/"+grace+"/history"] = func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			replies(`{"error":"refused","code":"`+code+`"}`)(w, nil)
		}
		if page := s.do(http.MethodPost, gracePath+"/older", form).want(t, http.StatusConflict, "").body; !strings.Contains(page, want) {
			t.Errorf("%s is not said:\n%s", want, page)
		}
	}
}
