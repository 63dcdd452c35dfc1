package console_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

const (
	fay     = "236395184570399@lid"
	account = "15550100200@s.whatsapp.net"
)

// aGroup answers the routes of a group with the account, as an admin or not, and Grace.
func aGroup(admin bool, more map[string]http.HandlerFunc) map[string]http.HandlerFunc {
	member := func(jid, name, label string, admin bool) string {
		return fmt.Sprintf(`{"jid":%q,"lid":null,"username":null,"displayName":%q,"isAdmin":%v,"isSuperAdmin":false,"label":%q}`, jid, name, admin, label)
	}
	detail := `{"jid":"` + club + `","name":"Walks <b>","topic":"Saturdays","ownerJid":null,"createdAt":null,"isAnnounce":false,"isLocked":true,"joinApproval":true,"disappearingSeconds":604800,"participants":[` +
		member(grace, "Grace", "guide <i>", false) + "," + member(account, "Alex", "", admin) + `]}`
	asking := `{"jid":"` + fay + `","lid":"` + fay + `","username":"fay","displayName":"Fay","requestedAt":"2026-11-21T08:15:30.000Z"}`
	answers := map[string]http.HandlerFunc{
		"/api/auth/status":                  replies(`{"status":"open","hasSession":true,"user":{"jid":"` + account + `","phone":"15550100200"},"since":"2026-11-21T08:15:30.000Z"}`),
		"/api/groups/" + club:               replies(`{"jid":"` + club + `","stored":` + detail + `,"live":` + detail + `}`),
		"/api/groups/" + club + "/requests": replies(`{"jid":"` + club + `","count":1,"requests":[` + asking + `],"participants":[{"jid":"` + fay + `","status":"done","error":null}]}`),
		"/api/groups/" + club + "/picture":  replies(`{"ok":true,"jid":"` + club + `","pictureId":"1"}`),
		"/api/groups/" + club + "/invite":   replies(`{"jid":"` + club + `","link":"https://chat.whatsapp.com/OLDOLDOLDOLD","code":"OLDOLDOLDOLD"}`),
	}
	maps.Copy(answers, more)
	return answers
}

// refusesWith answers with an error of the API.
func refusesWith(status int, code, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":%q,"code":%q}`, text, code)
	}
}

const infoOfClub = "/console/chats/120363025246125486%40g.us/info"

// TestGroup_ShowsItsLabels: the page of a group has the labels of its chat.
func TestGroup_ShowsItsLabels(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, aGroup(false, map[string]http.HandlerFunc{
		"/api/labels":        replies(`{"labels":[{"id":"7","name":"Paid","color":2},{"id":"8","name":"New","color":1}]}`),
		"/api/chats/" + club: replies(listedChat(club, "Walks", `"labels":["7"]`)),
	}))
	s.logIn()
	if page := s.get(infoOfClub).want(t, http.StatusOK, "").body; !strings.Contains(page, `label-2" aria-hidden="true"></i><bdi>Paid</bdi>`) || strings.Contains(page, "<bdi>New</bdi>") {
		t.Errorf("the page has other labels than the chat:\n%s", page)
	}
}

// TestGroup_AdminsAdminister: the page has forms for members, requests, the link and settings.
func TestGroup_AdminsAdminister(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, aGroup(true, map[string]http.HandlerFunc{
		"/api/groups/" + club + "/participants": replies(`{"ok":true,"jid":"` + club + `","participants":[{"jid":"` + grace + `","status":"done","error":null}]}`),
		"/api/groups/" + club + "/leave":        replies(`{"ok":true,"jid":"` + club + `"}`),
	}))
	csrf := s.logIn().csrf()
	page := s.get(infoOfClub).want(t, http.StatusOK, "").body
	for _, want := range []string{
		"Walks &lt;b&gt;", "guide &lt;i&gt;", ">Admin<", "<bdi>Fay</bdi>", "<bdi>@fay</bdi>", `value="approve"`, `value="promote"`, `value="remove"`, `<bdi>You</bdi>`,
		`<option value="604800" selected>`, `<option value="true" selected>Only admins`, "Show invite link", "Leave group", `href="/console/chats/120363025246125486%40g.us/add"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "OLDOLDOLDOLD") {
		t.Error("the link is shown to all who look at the screen")
	}
	if page := s.get(infoOfClub + "?invite").body; !strings.Contains(page, "https://chat.whatsapp.com/OLDOLDOLDOLD") || !strings.Contains(page, `<svg class="qr"`) {
		t.Error("the link is not shown where it is asked for")
	}
	chat := "/console/chats/" + club
	for _, c := range []struct{ path, form, method, route, body string }{
		{"/info", "form=subject&name=+Hikes+&topic=a%0D%0Ab", "PATCH", "", `{"name":"Hikes","topic":"a\nb","isAnnounce":null,"isLocked":null,"joinApproval":null,"disappearingSeconds":null,"memberAddMode":null}`},
		{"/info", "form=subject&name=Walks&shown=Walks&topic=a", "PATCH", "", `{"name":null,"topic":"a","isAnnounce":null,"isLocked":null,"joinApproval":null,"disappearingSeconds":null,"memberAddMode":null}`},
		{"/info", "form=settings&announce=true&locked=false&approval=true&disappearing=0", "PATCH", "", `{"name":null,"topic":null,"isAnnounce":true,"isLocked":false,"joinApproval":true,"disappearingSeconds":0,"memberAddMode":null}`},
		{"/participants", "action=promote&person=" + grace, "POST", "/participants", `{"action":"promote","participants":["` + grace + `"]}`},
		{"/participants", "action=approve&person=" + fay, "POST", "/requests", `{"action":"approve","participants":["` + fay + `"]}`},
		{"/add", "person=" + grace + "&person=" + fay, "POST", "/participants", `{"action":"add","participants":["` + grace + `","` + fay + `"]}`},
		{"/picture/remove", "", "DELETE", "/picture", ""},
		{"/invite", "", "DELETE", "/invite", ""},
		{"/leave", "", "POST", "/leave", ""},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		*all = nil
		s.do(http.MethodPost, chat+c.path, form).want(t, http.StatusForbidden, "")
		form.Set("csrf", csrf)
		*all = nil
		if got := s.do(http.MethodPost, chat+c.path, form); got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), infoOfClub) {
			t.Errorf("%s %s: %d to %q\n%s", c.path, c.form, got.StatusCode, got.Header.Get("Location"), got.body)
		}
		done := writes(*all)
		if len(done) != 1 || done[0].method != c.method || done[0].path != "/api/groups/"+club+c.route || done[0].body != c.body || done[0].header.Get("Idempotency-Key") == "" {
			t.Errorf("%s %s sent %+v", c.path, c.form, done)
		}
	}
}

// A new picture reaches the API with the session's token. The form shows a refusal.
func TestGroup_ForwardsThePicture(t *testing.T) {
	t.Parallel()
	refuses := false
	s, all := overAPI(t, aGroup(true, map[string]http.HandlerFunc{"/api/groups/" + club + "/picture": func(w http.ResponseWriter, r *http.Request) {
		if refuses {
			refusesWith(400, "unsupported_media", "that is no picture")(w, r)
			return
		}
		replies(`{"ok":true,"jid":"`+club+`","pictureId":"1"}`)(w, r)
	}}))
	csrf := s.logIn().csrf()
	path := "/console/chats/" + club + "/picture"
	*all = nil
	s.upload(t, path, [][2]string{{"csrf", "guessed"}}).want(t, http.StatusForbidden, "")
	if done := writes(*all); len(done) != 0 {
		t.Errorf("changed without the session's token: %+v", done)
	}
	s.upload(t, path, [][2]string{{"csrf", csrf}, {"key", "key-1"}}).want(t, http.StatusSeeOther, infoOfClub)
	if done := writes(*all); len(done) != 1 || done[0].method != "PUT" || done[0].body != "the bytes" || done[0].header.Get("Idempotency-Key") != "key-1" {
		t.Errorf("sent %+v", done)
	}
	refuses = true
	if page := s.upload(t, path, [][2]string{{"csrf", csrf}}).want(t, http.StatusBadRequest, "").body; !strings.Contains(page, "That is no picture") {
		t.Error("the refusal is not shown")
	}
}

// Members who are not admins, and visitors without the scope send, can only read.
func TestGroup_IsReadOnlyForMembers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		admin bool
		token string
	}{"a member": {false, token}, "a reading token": {true, "brt_LIMITED"}} {
		s, _ := overAPI(t, aGroup(c.admin, nil))
		s.try(c.token)
		page := s.get(infoOfClub).want(t, http.StatusOK, "").body
		for _, form := range []string{`value="approve"`, `value="promote"`, `name="announce"`, `name="topic"`, "/add"} {
			if strings.Contains(page, form) {
				t.Errorf("%s is offered %s", name, form)
			}
		}
		if !strings.Contains(page, "Need an admin’s approval") || !strings.Contains(page, "<bdi>Grace</bdi>") {
			t.Errorf("%s does not read the settings or members", name)
		}
	}
}

// A refused form shows the error and the typed values.
func TestGroup_FormsShowRefusals(t *testing.T) {
	t.Parallel()
	detail := aGroup(true, nil)["/api/groups/"+club]
	s, _ := overAPI(t, aGroup(true, map[string]http.HandlerFunc{
		"/api/groups/" + club: func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				refusesWith(http.StatusBadRequest, "not_admin", "only an admin <of> the group may do that")(w, r)
				return
			}
			detail(w, r)
		},
		"/api/groups/" + club + "/participants": replies(`{"ok":true,"jid":"` + club + `","participants":[{"jid":"` + grace + `","status":"invite_required","error":"lets only some people add them"}]}`),
	}))
	csrf := s.logIn().csrf()
	page := s.do(http.MethodPost, infoOfClub, url.Values{"csrf": {csrf}, "form": {"subject"}, "name": {"Typed"}, "topic": {"typed, too"}}).want(t, http.StatusBadRequest, "").body
	_, form, _ := strings.Cut(page, `id="subject"`)
	form, _, _ = strings.Cut(form, "</section>")
	for _, want := range []string{"<p dir=\"auto\">Only admins of the group can do this.</p>", "<summary>Details</summary><p dir=\"auto\">Only an admin &lt;of&gt; the group may do that.</p>", `value="Typed"`, ">typed, too</textarea>", `role="alert"`} {
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %q:\n%s", want, form)
		}
	}
	page = s.do(http.MethodPost, "/console/chats/"+club+"/add", url.Values{"csrf": {csrf}, "person": {grace}}).want(t, http.StatusConflict, "").body
	if !strings.Contains(page, "lets only some people add them to groups. Send them the invite link.") || !strings.Contains(page, `value="`+grace+`" checked`) {
		t.Errorf("who could not be added:\n%s", page)
	}
}

// Large groups show some members first, and all on request or in a search.
func TestGroup_LargeOnesAreSearched(t *testing.T) {
	t.Parallel()
	var members []string
	for i := range 120 {
		members = append(members, fmt.Sprintf(`{"jid":"4915100%05d@s.whatsapp.net","displayName":"Member %03d"}`, i, i))
	}
	detail := `{"jid":"` + club + `","name":"Many","participants":[` + strings.Join(members, ",") + `]}`
	s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/groups/" + club: replies(`{"jid":"` + club + `","stored":` + detail + `,"live":null}`)})
	s.logIn()
	for query, want := range map[string]int{"": 50, "?all": 120, "?q=member+07": 10, "?q=%2B49+15100+00042": 1, "?q=nothing": 0} {
		if got := strings.Count(s.get(infoOfClub+query).body, `<li class="member">`); got != want {
			t.Errorf("%q shows %d members, want %d", query, got, want)
		}
	}
}

// A forwarded message has its own key for each chat. A failed chat is named and stays chosen.
func TestForward_SendsWithAKeyEach(t *testing.T) {
	t.Parallel()
	fails := ""
	const path = "/console/chats/" + grace + "/messages/M1/forward"
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + grace + "/messages/M1": replies(`{"chatJid":"` + grace + `","message":{"msgId":"M1","senderJid":"` + grace + `","messageType":"conversation","content":"pass <it> on","timestamp":"2026-11-21T08:15:30.000Z"}}`),
		"/api/chats":                           replies(`{"count":2,"chats":[{"jid":"` + club + `","isGroup":true,"name":"Club"},{"jid":"` + grace + `","isGroup":false,"name":"Grace"}],"nextCursor":null}`),
		"/api/chats/" + club:                   replies(`{"jid":"` + club + `","isGroup":true,"name":"Club"}`),
		"/api/chats/" + grace:                  replies(`{"jid":"` + grace + `","isGroup":false,"name":"Grace"}`),
		"/api/contacts":                        replies(contactsList(knownContact(grace, "Grace", ""), knownContact("447700900123@s.whatsapp.net", "Gregor", ""))),
		"/api/messages/forward": func(w http.ResponseWriter, r *http.Request) {
			if key := r.Header.Get("Idempotency-Key"); fails != "" && strings.HasSuffix(key, fails) {
				refusesWith(http.StatusForbidden, "forbidden", "this token may not send there")(w, r)
				return
			}
			_, _ = io.WriteString(w, `{"ok":true,"msgId":"F1","chatJid":"`+club+`"}`)
		},
	})
	csrf := s.logIn().csrf()
	page := s.get(path+"?q=gr").want(t, http.StatusOK, "").body
	for _, want := range []string{"pass &lt;it&gt; on", `value="` + club + `"`, "<bdi>Gregor</bdi>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	form := url.Values{"csrf": {csrf}, "key": {"K"}, "to": {club, grace}}
	*all = nil
	s.do(http.MethodPost, path, form).want(t, http.StatusSeeOther, "/console/chats/15550100301%40s.whatsapp.net")
	for i, one := range writes(*all) {
		to := form["to"][i]
		if one.body != `{"sourceChatJid":"`+grace+`","sourceMsgId":"M1","destJid":"`+to+`"}` || one.header.Get("Idempotency-Key") != "K-"+strings.Split(to, "@")[0] {
			t.Errorf("sent %+v", one)
		}
	}
	fails = "K-120363025246125486"
	page = s.do(http.MethodPost, path, form).want(t, http.StatusForbidden, "").body
	if !strings.Contains(page, "Not sent to Club: Your token doesn’t allow this. It was sent to the others.") || !strings.Contains(page, `value="`+club+`" checked`) || strings.Contains(page, `value="`+grace+`" checked`) {
		t.Errorf("after a failure:\n%s", page)
	}
	s.do(http.MethodPost, path, url.Values{"csrf": {csrf}}).want(t, http.StatusBadRequest, "")
	s.do(http.MethodPost, path, url.Values{"to": {club}}).want(t, http.StatusForbidden, "")
	s.header.Set("Accept", "application/json")
	fails = ""
	if got := s.do(http.MethodPost, path, form).want(t, http.StatusOK, ""); !strings.Contains(got.body, "Forwarded to 2 chats") {
		t.Errorf("the script is answered %s", got.body)
	}
}

// A picture can be removed if there is one or if that is unknown. Afterwards the browser's cached one
// is not shown.
func TestGroup_ExistingPicturesCanBeRemoved(t *testing.T) {
	t.Parallel()
	detail := httptest.NewRecorder()
	aGroup(true, nil)["/api/groups/"+club](detail, nil)
	for name, c := range map[string]struct {
		id, version string // null where no change was seen
		asked       http.HandlerFunc
		offered     bool
	}{
		"there is one":          {`"7"`, "size=full&amp;v=7", nil, true},
		"it was removed":        {`""`, "size=full&amp;v=none", nil, false},
		"the network has one":   {"null", `size=full"`, replies("the picture"), true},
		"the network has none":  {"null", `size=full"`, refusesWith(404, "no_picture", "there is no picture"), false},
		"the network is silent": {"null", `size=full"`, refusesWith(503, "not_connected", "not connected"), true},
	} {
		answers := aGroup(true, map[string]http.HandlerFunc{
			"/api/groups/" + club: replies(strings.ReplaceAll(detail.Body.String(), `"topic":`, `"pictureId":`+c.id+`,"topic":`)),
		})
		if c.asked != nil {
			answers["/api/groups/"+club+"/picture"] = c.asked
		}
		s, _ := overAPI(t, answers)
		s.logIn()
		page := s.get(infoOfClub).want(t, http.StatusOK, "").body
		if strings.Contains(page, "/picture/remove") != c.offered || !strings.Contains(page, c.version) {
			t.Errorf("%s: offered %v, or not with %s", name, !c.offered, c.version)
		}
	}
}
