package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestProfile_ChangesWhatDiffers shows the account's profile and privacy, and sends the changed fields alone.
func TestProfile_ChangesWhatDiffers(t *testing.T) {
	t.Parallel()
	const me = "15550100200@s.whatsapp.net"
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/account":                     replies(`{"ok":true,"changed":["about"]}`),
		"/api/account/privacy":             replies(`{"lastSeen":"contact_blacklist","online":"all","about":"all","picture":"none","readReceipts":"all","groupAdd":"all","callAdd":"all","messages":"all","stickers":null,"defense":"off"}`),
		"/api/account/picture":             replies(`{"ok":true}`),
		"/api/contacts/" + me + "/profile": replies(`{"jid":"` + me + `","lid":null,"about":"Open until six","verified":false,"business":null,"askedAt":"2026-11-21T12:00:00.000Z"}`),
	})
	s.status = `{"status":"open","since":"2026-11-21T08:15:30.000Z","user":{"jid":"` + me + `","lid":"","phone":"15550100200","pushName":"Ada","platform":"android"}}`
	token := s.logIn().csrf()
	page := s.get("/console/profile").want(t, http.StatusOK, "").body
	for _, want := range []string{`value="Open until six"`, "My contacts, with exceptions", `<option value="none" selected>Nobody`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, c := range []struct{ path, form, method, to, body string }{
		{"", "name=Ada&shown-name=Ada&about=Closed&shown-about=Open+until+six", "PATCH", "", `{"about":"Closed"}`},
		{"", "name=Ada&shown-name=Ada&about=&shown-about=", "", "", ""},
		{"/privacy", "lastSeen=none&shown-lastSeen=contact_blacklist&online=all&shown-online=all", "PATCH", "/privacy", `{"lastSeen":"none"}`},
		{"/picture/remove", "", "DELETE", "/picture", ""},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		form.Set("csrf", token)
		*all = nil
		s.do(http.MethodPost, "/console/profile"+c.path, form).want(t, http.StatusSeeOther, "/console/profile")
		done := writes(*all)
		switch {
		case c.method == "":
			if len(done) != 0 {
				t.Errorf("nothing differs, and sent is %+v", done)
			}
		case len(done) != 1 || done[0].method != c.method || done[0].path != "/api/account"+c.to || done[0].body != c.body:
			t.Errorf("%s %s: sent %+v", c.path, c.form, done)
		}
	}
	s.do(http.MethodPost, "/logout", url.Values{"csrf": {token}})
	s.try("brt_LIMITED")
	s.get("/console/profile").want(t, http.StatusNotFound, "")
}
