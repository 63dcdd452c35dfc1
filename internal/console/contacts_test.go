package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const alan = "447700900123@s.whatsapp.net"

// Contacts have headings by letter, saved or not.
func TestContacts_HaveHeadingsByLetter(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/contacts": replies(strings.Replace(contactsList(knownContact(alan, "Élodie <b>", ""), knownContact(grace, "", "eve"), knownContact("49151000077@s.whatsapp.net", "", "")), `"nextCursor":null`, `"nextCursor":"n1"`, 1)),
	})
	s.logIn()
	*all = nil
	page := s.get("/console/contacts?q=e").want(t, http.StatusOK, "").body
	if strings.Count(page, `>E</h2>`) != 1 || strings.Count(page, `>#</h2>`) != 1 {
		t.Errorf("the letters are wrong:\n%s", page)
	}
	for _, want := range []string{"Élodie &lt;b&gt;", "<bdi>eve</bdi>", "<bdi>&#43;49 151 000 077</bdi>", "Not saved", `href="/console/people/447700900123%40s.whatsapp.net"`, "/console/contacts?cursor=n1&amp;q=e"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPerson_ShowsAllNames(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/contacts/" + grace: replies(strings.Replace(knownContact(grace, "Grace Hopper", "gracie"), `"username":null`, `"username":"grace.h"`, 1)),
	})
	s.logIn()
	page := s.get("/console/people/"+grace).want(t, http.StatusOK, "").body
	for _, want := range []string{"<bdi>Grace Hopper</bdi>", "<bdi>gracie</bdi>", "@grace.h", `data-copy="&#43;1 555 010 0301"`, `href="/console/chats/15550100301%40s.whatsapp.net"`, "?size=full"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	s.get("/console/people/"+alan).want(t, http.StatusNotFound, "")
	s.get("/console/people/"+club).want(t, http.StatusSeeOther, infoOfClub)
}

// A number in any format opens its chat, even without messages. A number that is not on WhatsApp gets
// an error next to the field.
func TestNewChat_BeginsByNumber(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/contacts/check": func(w http.ResponseWriter, r *http.Request) {
			replies(`{"results":[{"phone":"447700900123","jid":"`+alan+`","isBusiness":false}]}`)(w, r)
		},
		"/api/contacts/" + grace: replies(knownContact(grace, "Grace", "")),
	})
	s.logIn()
	const chat = "/console/chats/447700900123%40s.whatsapp.net"
	for _, number := range []string{"+44 7700 900123", "0044 (0)7700-900123", "447700900123"} {
		s.get("/console/new?go=1&q="+url.QueryEscape(number)).want(t, http.StatusSeeOther, chat)
		s.get("/console/new?phone="+url.QueryEscape(number)).want(t, http.StatusSeeOther, chat)
	}
	*all = nil
	if page := s.get("/console/new?q=447700900123").want(t, http.StatusOK, "").body; !strings.Contains(page, "/console/new?phone=447700900123") {
		t.Error("what is typed is not offered")
	}
	s.get("/console/new?phone=15550100301").want(t, http.StatusSeeOther, "/console/chats/15550100301%40s.whatsapp.net")
	for _, one := range *all {
		if one.path == "/api/contacts/check" {
			t.Error("the network is asked about what is typed, or known")
		}
	}
	page := s.get(chat).want(t, http.StatusOK, "").body
	if !strings.Contains(page, `name="text"`) || !strings.Contains(page, "<bdi>&#43;44 770 090 0123</bdi>") {
		t.Errorf("a chat without messages:\n%s", page)
	}
	s.get("/console/chats/"+club).want(t, http.StatusNotFound, "")
}

func TestNewChat_ShowsErrorsNextToTheField(t *testing.T) {
	t.Parallel()
	answer := replies(`{"results":[{"phone":"447700900123","jid":null,"isBusiness":false}]}`)
	s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/contacts/check": func(w http.ResponseWriter, r *http.Request) { answer(w, r) }})
	s.logIn()
	wants := func(path string, status int, text string) {
		t.Helper()
		if page := s.get(path).want(t, status, "").body; !strings.Contains(page, text) || !strings.Contains(page, `aria-describedby="fault"`) {
			t.Errorf("%s lacks %q", path, text)
		}
	}
	wants("/console/new?phone=447700900123", http.StatusOK, "isn’t on WhatsApp")
	wants("/console/new?phone=0770", http.StatusOK, "Enter the number with its country code")
	answer = refusesWith(http.StatusTooManyRequests, "look_ups_limited", "at most 200 numbers an hour are looked up")
	wants("/console/new?phone=447700900123", http.StatusTooManyRequests, "That’s as many new numbers as this bridge looks up for now.")
}

// A group is created with people chosen by name. A notice names the ones who could not be added.
func TestNewGroup_IsMadeOfChosenPeople(t *testing.T) {
	t.Parallel()
	refused := false
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/contacts": replies(contactsList(knownContact(grace, "Grace", ""), knownContact(alan, "Alan", ""))),
		"/api/groups": func(w http.ResponseWriter, r *http.Request) {
			if refused {
				refusesWith(http.StatusBadRequest, "invalid_request", "name must have 1 to 100 characters")(w, r)
				return
			}
			replies(`{"ok":true,"jid":"`+club+`","name":"Readers","participants":[{"jid":"`+grace+`","status":"done","error":null},{"jid":"`+alan+`","status":"invite_required","error":"lets only some people add them to groups"}]}`)(w, r)
		},
	})
	form := url.Values{"csrf": {s.logIn().csrf()}, "name": {"Readers"}, "person": {alan}, "q": {"gr"}}
	page := s.get("/console/new/group?"+form.Encode()).want(t, http.StatusOK, "").body
	if !strings.Contains(page, `value="Readers"`) || !strings.Contains(page, `value="`+alan+`" checked`) || !strings.Contains(page, `value="`+grace+`">`) {
		t.Errorf("looking for others lost what was chosen:\n%s", page)
	}
	form["person"] = []string{grace, alan}
	*all = nil
	s.do(http.MethodPost, "/console/new/group", form).want(t, http.StatusSeeOther, "/console/chats/120363025246125486%40g.us")
	if done := writes(*all); len(done) != 1 || done[0].body != `{"name":"Readers","participants":["`+grace+`","`+alan+`"]}` || done[0].header.Get("Idempotency-Key") == "" {
		t.Errorf("sent %+v", done)
	}
	if page := s.get("/console/contacts").body; !strings.Contains(page, "Alan lets only some people add them to groups.") {
		t.Error("nothing is said of Alan")
	}
	refused = true
	page = s.do(http.MethodPost, "/console/new/group", form).want(t, http.StatusBadRequest, "").body
	if !strings.Contains(page, "Name must have 1 to 100 characters.") || !strings.Contains(page, `value="`+alan+`" checked`) {
		t.Errorf("a refused form:\n%s", page)
	}
	s.do(http.MethodPost, "/logout", form)
	s.try("brt_LIMITED")
	s.get("/console/new/group").want(t, http.StatusNotFound, "")
}

// Browsers cache pictures and missing pictures. A missing picture is no error, which browsers would
// log for each row.
func TestPictures_AreCachedByBrowsers(t *testing.T) {
	t.Parallel()
	const path = "/api/contacts/" + grace + "/picture"
	var answer http.HandlerFunc
	s, all := overAPI(t, map[string]http.HandlerFunc{
		path:                               func(w http.ResponseWriter, r *http.Request) { answer(w, r) },
		"/api/groups/" + club + "/picture": refusesWith(http.StatusNotFound, "no_picture", "there is no picture"),
	})
	s.get("/console/pictures/"+grace).want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fpictures%2F15550100301%40s.whatsapp.net")
	s.logIn()
	answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/jpeg")
		w.Header().Set("Etag", `"abc"`)
		if r.Header.Get("If-None-Match") == `"abc"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(r.URL.Query().Get("size")))
	}
	for query, size := range map[string]string{"": "preview", "?size=full": "full"} {
		got := s.get("/console/pictures/"+grace+query).want(t, http.StatusOK, "")
		if got.body != size || got.Header.Get("Cache-Control") != "private, max-age=3600" || got.Header.Get("Content-Type") != "image/jpeg" || got.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%q: %q with %v", query, got.body, got.Header)
		}
	}
	s.header.Set("If-None-Match", `"abc"`)
	s.get("/console/pictures/"+grace).want(t, http.StatusNotModified, "")
	s.header.Del("If-None-Match")
	if got := s.get("/console/pictures/"+club).want(t, http.StatusNoContent, ""); got.Header.Get("Cache-Control") != "private, max-age=3600" {
		t.Errorf("no picture: %v", got.Header)
	}
	answer = refusesWith(http.StatusTooManyRequests, "rate_limited", "slow down")
	if got := s.get("/console/pictures/"+grace).want(t, http.StatusNoContent, ""); got.Header.Get("Cache-Control") != "private, max-age=60" {
		t.Errorf("no answer: %v", got.Header)
	}
	if last := (*all)[len(*all)-1]; last.path != path {
		t.Errorf("asked %s", last.path)
	}
	if page := s.get("/console/chats").body; strings.Contains(page, "/console/pictures/") {
		t.Error("a list of nobody has pictures")
	}
}

// The scope send permits saving names. The form shows a refusal with what was typed.
func TestPerson_IsSavedAndRemoved(t *testing.T) {
	t.Parallel()
	const page = "/console/people/15550100301%40s.whatsapp.net"
	refused := false
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/contacts/" + grace: func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				replies(knownContact(grace, "Grace", ""))(w, r)
			case refused:
				refusesWith(http.StatusServiceUnavailable, "not_connected", "the account is not connected")(w, r)
			default:
				replies(`{"ok":true}`)(w, r)
			}
		},
	})
	csrf := s.logIn().csrf()
	if body := s.get(page).want(t, http.StatusOK, "").body; !strings.Contains(body, `name="name" value="Grace"`) || !strings.Contains(body, `id="unsave"`) {
		t.Errorf("the form is not shown:\n%s", body)
	}
	for _, name := range []string{"Grace Hopper", ""} {
		*all = nil
		s.do(http.MethodPost, page+"/name", url.Values{"name": {name}}).want(t, http.StatusForbidden, "")
		s.do(http.MethodPost, page+"/name", url.Values{"csrf": {csrf}, "name": {name}}).want(t, http.StatusSeeOther, page)
		if done := writes(*all); len(done) != 1 || done[0].method != http.MethodPatch || !strings.Contains(done[0].body, `"name":"`+name+`"`) {
			t.Errorf("%q sent %+v", name, done)
		}
	}
	refused = true
	body := s.do(http.MethodPost, page+"/name", url.Values{"csrf": {csrf}, "name": {"Typed"}}).want(t, http.StatusServiceUnavailable, "").body
	if !strings.Contains(body, "The account is not connected.") || !strings.Contains(body, `value="Typed"`) {
		t.Errorf("a refusal:\n%s", body)
	}
}

// The scope send permits blocking and unblocking. The form shows a refusal.
func TestPerson_IsBlockedAndUnblocked(t *testing.T) {
	t.Parallel()
	const page = "/console/people/15550100301%40s.whatsapp.net"
	blocked, refused := "false", false
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/contacts/" + grace: func(w http.ResponseWriter, r *http.Request) {
			replies(strings.Replace(knownContact(grace, "Grace", ""), `"isSaved"`, `"isBlocked":`+blocked+`,"isSaved"`, 1))(w, r)
		},
		"/api/contacts/" + grace + "/block": func(w http.ResponseWriter, r *http.Request) {
			if refused {
				refusesWith(http.StatusServiceUnavailable, "not_connected", "the account is not connected")(w, r)
				return
			}
			replies(`{"ok":true}`)(w, r)
		},
	})
	csrf := s.logIn().csrf()
	for _, c := range []struct{ blocked, offered, method string }{{"false", "block", "POST"}, {"true", "unblock", "DELETE"}} {
		blocked = c.blocked
		if body := s.get(page).want(t, http.StatusOK, "").body; !strings.Contains(body, `value="`+c.offered+`"`) {
			t.Errorf("blocked %s: %s is not offered", c.blocked, c.offered)
		}
		*all = nil
		s.do(http.MethodPost, page+"/block", url.Values{"action": {c.offered}}).want(t, http.StatusForbidden, "")
		s.do(http.MethodPost, page+"/block", url.Values{"csrf": {csrf}, "action": {c.offered}}).want(t, http.StatusSeeOther, page)
		if done := writes(*all); len(done) != 1 || done[0].method != c.method || done[0].header.Get("Idempotency-Key") == "" {
			t.Errorf("%s sent %+v", c.offered, done)
		}
	}
	refused = true
	if body := s.do(http.MethodPost, page+"/block", url.Values{"csrf": {csrf}, "action": {"block"}}).want(t, http.StatusServiceUnavailable, "").body; !strings.Contains(body, "The account is not connected.") || !strings.Contains(body, `id="block"`) {
		t.Errorf("a refusal:\n%s", body)
	}
	s.do(http.MethodPost, "/logout", url.Values{"csrf": {csrf}})
	s.try("brt_LIMITED")
	if body := s.get(page).body; strings.Contains(body, `value="unblock"`) {
		t.Error("a visitor who may not send is offered to unblock")
	}
}
