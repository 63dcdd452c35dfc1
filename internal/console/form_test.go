package console_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// refusesForms refuses bodies as the API does; its lists are empty.
func refusesForms(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"count":0,"webhooks":[],"hooks":[],"tokens":[]}`)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":"`+text+`","code":"invalid_request"}`)
	}
}

// chatsByName are chats, two of which have the same name.
const chatsByName = `{"count":3,"chats":[{"jid":"` + grace + `","name":"Grace, Hopper","isGroup":false},{"jid":"1@g.us","name":"Team","isGroup":true},{"jid":"2@g.us","name":"Team","isGroup":true}],"nextCursor":null}`

// A refused form shows the typed values again, with the error next to its field.
func TestForms_RetainTypedValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, api, refusal string
		form               url.Values
		want               []string
	}{
		"webhook": {
			"/console/webhooks", "/api/webhooks", "url must begin with http:// or https:// and name a host",
			url.Values{"url": {"ftp://x"}, "type": {"call.created"}, "chats": {grace}, "chatType": {"group"}, "fromMe": {"true"}, "private": {"yes"}},
			[]string{
				"The address must begin with http:// or https:// and name a host.", `value="ftp://x"`, `value="call.created" checked`, `value="` + grace + `" checked`,
				`value="group" selected`, `value="true" selected`, `name="private" value="yes" checked`, `aria-invalid="true"`,
			},
		},
		"webhook within": {
			"/console/webhooks", "/api/webhooks", "url: 10.0.0.1 is private; a receiver in a private network needs allowPrivate",
			url.Values{"url": {"http://10.0.0.1"}},
			[]string{"10.0.0.1 is private; a receiver in a private network needs “Allow a private address”."},
		},
		"token without anything": {
			"/console/tokens", "/api/tokens", "",
			url.Values{"name": {" "}, "expires": {"2020-01-01"}, "chats": {"Nobody"}},
			[]string{"Give the token a name", "Choose at least one permission.", "Choose a day in the future.", "There’s no chat called “Nobody”", `value="2020-01-01"`, `value="Nobody"`},
		},
		"token": {
			"/console/tokens", "/api/tokens", "this token is limited to some chats: name chats among them",
			url.Values{"name": {"desk"}, "scope": {"send"}},
			[]string{"This token is limited to some chats: name chats among them.", `value="desk"`, `value="send" checked`},
		},
		"hook": {
			"/console/hooks", "/api/hooks", "template: unexpected } in operand",
			url.Values{"name": {"pushes"}, "chat": {grace}, "template": {"json"}, "own": {"{{}"}},
			[]string{"Unexpected } in operand.", `value="pushes"`, `value="json" selected`, ">{{}</textarea>", `value="` + grace + `" checked`},
		},
		"hook without a chat": {
			"/console/hooks", "/api/hooks", "",
			url.Values{"name": {"pushes"}, "chat": {"Team"}, "template": {"text"}},
			[]string{"More than one chat is called “Team”", `value="Team"`, `value="text" selected`},
		},
		"number": {
			"/console/pair", "/api/auth/pair", "",
			url.Values{"phone": {"0171 555"}},
			[]string{"Enter the number with its country code", `value="0171 555"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, all := overAPI(t, map[string]http.HandlerFunc{
				c.api: refusesForms(http.StatusBadRequest, c.refusal), "/api/chats": replies(chatsByName), "/api/contacts": replies(`{"count":0,"contacts":[],"nextCursor":null}`),
				"/api/auth/status": replies(`{"status":"needs-pair","since":"2026-11-21T08:15:30.000Z"}`),
			})
			c.form.Set("csrf", s.logIn().csrf())
			page := s.do(http.MethodPost, c.path, c.form).want(t, http.StatusBadRequest, "").body
			for _, want := range c.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page lacks %q\n%s", want, page)
				}
			}
			for _, one := range writes(*all) {
				if c.refusal == "" {
					t.Errorf("asked for %+v", one)
				}
			}
		})
	}
}

// The script gets the errors by field.
func TestForms_AnswerTheScriptByField(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, nil)
	form := url.Values{"csrf": {s.logIn().csrf()}, "phone": {"0171"}}
	s.header.Set("Accept", "application/json")
	if got := s.do(http.MethodPost, "/console/pair", form).want(t, http.StatusBadRequest, "").body; !strings.Contains(got, `"fields":{"phone":"Enter the number with its country code`) {
		t.Errorf("answered %s", got)
	}
}

// A field takes several chats by name, number or JID; names may have commas.
func TestChoose_ChatsByName(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats": func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query().Get("q"); q != "" && !strings.Contains("grace, hopper", strings.ToLower(q)) {
				_, _ = io.WriteString(w, `{"count":0,"chats":[],"nextCursor":null}`)
				return
			}
			_, _ = io.WriteString(w, chatsByName)
		},
		"/api/contacts": func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Query().Get("q"), "@") {
				_, _ = io.WriteString(w, `{"count":0,"contacts":[],"nextCursor":null}`)
				return
			}
			_, _ = io.WriteString(w, `{"count":1,"contacts":[{"jid":"15550100999@s.whatsapp.net","name":"Ada","isSaved":true,"chatJid":null}],"nextCursor":null}`)
		},
		"/api/tokens": replies(`{"tokens":[]}`),
	})
	form := url.Values{"csrf": {s.logIn().csrf()}, "name": {"desk"}, "scope": {"read"}, "chats": {"3@g.us 4@g.us", "grace, hopper\nAda", "+1 555 010-0777", ""}}
	s.create("/console/tokens", form)
	if want := `"chats":["3@g.us","4@g.us","` + grace + `","15550100999@s.whatsapp.net","15550100777@s.whatsapp.net"]`; len(writes(*all)) != 1 || !strings.Contains(writes(*all)[0].body, want) {
		t.Errorf("asked for %+v, want %s", writes(*all), want)
	}
	if found := s.get("/console/choose?q=Grace").want(t, http.StatusOK, "").body; !strings.Contains(found, `{"jid":"`+grace+`","name":"Grace, Hopper","about":"+1 555 010 0301","isGroup":false}`) || !strings.Contains(found, `"name":"Ada"`) {
		t.Errorf("found %s", found)
	}
	if found := s.get("/console/choose?q=7@g.us").want(t, http.StatusOK, "").body; !strings.Contains(found, `"jid":"7@g.us"`) {
		t.Errorf("found %s", found)
	}
	if page := s.get("/console/events?chat=Grace,+Hopper").want(t, http.StatusOK, "").body; !strings.Contains(page, `data-query="chat=15550100301%40s.whatsapp.net"`) {
		t.Error("events are not filtered by the name of a chat")
	}
}

// Another number does not unlink the account, and stays in its field.
func TestUnlink_RetainsTheNumber(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/auth/status": replies(`{"status":"open","hasSession":true,"user":{"jid":"15550100200@s.whatsapp.net","phone":"15550100200"},"since":"2026-11-21T08:15:30.000Z"}`),
	})
	page := s.do(http.MethodPost, "/console/logout-account", url.Values{"csrf": {s.logIn().csrf()}, "number": {"+1 555"}}).want(t, http.StatusBadRequest, "").body
	if !strings.Contains(page, "That’s not the number of the linked account. Nothing was changed.") || !strings.Contains(page, `value="&#43;1 555"`) {
		t.Errorf("the page is\n%s", page)
	}
}
