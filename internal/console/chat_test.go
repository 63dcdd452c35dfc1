package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestMembers_AreShownWithTheirLabels and who asks to be let in, whom those who may
// send let in.
func TestMembers_AreShownWithTheirLabels(t *testing.T) {
	const group, fay = "1203630954126421017@g.us", "236395184570399@lid"
	detail := `{"jid":"` + group + `","name":"Walks <b>","topic":"","ownerJid":"` + grace + `","createdAt":null,"isAnnounce":false,"isLocked":false,"joinApproval":true,"disappearingSeconds":0,"participants":[` +
		`{"jid":"` + grace + `","lid":null,"username":null,"displayName":"Grace","isAdmin":true,"isSuperAdmin":false,"label":"guide <i>"}]}`
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/groups/" + group: replies(`{"jid":"` + group + `","stored":` + detail + `,"live":` + detail + `}`),
		"/api/groups/" + group + "/requests": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				replies(`{"ok":true,"jid":"`+group+`","participants":[{"jid":"`+fay+`","lid":"`+fay+`","status":"done","error":null,"invite":null}]}`)(w, r)
				return
			}
			replies(`{"jid":"`+group+`","count":1,"requests":[{"jid":"`+fay+`","lid":"`+fay+`","username":"fay","displayName":"Fay","requestedAt":"2026-11-21T08:15:30.000Z"}]}`)(w, r)
		},
	})
	form := url.Values{"csrf": {s.logIn().csrf()}, "person": {fay}, "action": {"approve"}}
	path := "/console/chats/" + group + "/members"
	page := s.get(path).want(t, http.StatusOK, "").body
	for _, want := range []string{"Walks &lt;b&gt;", "guide &lt;i&gt;", "<td>admin</td>", "An admin lets in", "<bdi>Fay</bdi>", "<bdi>@fay</bdi>", `value="approve"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	*all = nil
	s.do(http.MethodPost, path, url.Values{"person": {fay}}).want(t, http.StatusForbidden, "")
	s.do(http.MethodPost, path, form).want(t, http.StatusSeeOther, strings.ReplaceAll(path, "@", "%40"))
	done := writes(*all)
	if len(done) != 1 || done[0].path != "/api/groups/"+group+"/requests" || done[0].header.Get("Idempotency-Key") == "" ||
		!strings.Contains(done[0].body, `"approve"`) || !strings.Contains(done[0].body, fay) {
		t.Errorf("sent %+v", done)
	}
	s.get("/console/chats/"+grace+"/members").want(t, http.StatusNotFound, "")
	s.do(http.MethodPost, "/logout", form)
	s.try("brt_LIMITED")
	if page := s.get(path).want(t, http.StatusOK, "").body; strings.Contains(page, `value="approve"`) {
		t.Error("a visitor who may not send is offered to let people in")
	}
}
