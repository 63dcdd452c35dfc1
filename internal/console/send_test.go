package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const escapedGrace = "15550100301%40s.whatsapp.net"

// aMessage is a message as the API shows it.
func aMessage(id string, fromMe bool, minute string) string {
	own, status := "false", "null"
	if fromMe {
		own, status = "true", `"sent"`
	}
	return `{"msgId":"` + id + `","fromMe":` + own + `,"senderJid":"` + grace + `","pushName":"Grace","messageType":"conversation","content":"text of ` + id +
		`","timestamp":"2026-11-21T11:` + minute + `:00.000Z","status":` + status + `,"reactions":[]}`
}

// aChat answers for a chat with three messages, two of them own ones.
func aChat() map[string]http.HandlerFunc {
	list := []string{aMessage("OWN", true, "50"), aMessage("OLD", true, "30"), aMessage("HERS", false, "20")}
	answers := map[string]http.HandlerFunc{
		"/api/chats/" + grace:               replies(`{"jid":"` + grace + `","isGroup":false,"name":"Grace","participants":2,"unreadCount":2,"lastMessage":` + list[0] + `}`),
		"/api/chats/" + grace + "/messages": replies(`{"jid":"` + grace + `","count":3,"messages":[` + strings.Join(list, ",") + `],"nextCursor":null}`),
		"/api/chats/" + grace + "/read":     replies(`{"ok":true,"chatJid":"` + grace + `","msgId":"OWN"}`),
	}
	for i, id := range []string{"OWN", "OLD", "HERS"} {
		message := list[i]
		answers["/api/chats/"+grace+"/messages/"+id] = func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				replies(`{"chatJid":"`+grace+`","message":`+message+`}`)(w, r)
				return
			}
			replies(`{"ok":true,"msgId":"`+id+`","chatJid":"`+grace+`","timestamp":"2026-11-21T12:00:00.000Z"}`)(w, r)
		}
		for _, mark := range []string{"/pin", "/vote", "/star"} {
			answers["/api/chats/"+grace+"/messages/"+id+mark] = answers["/api/chats/"+grace+"/messages/"+id]
		}
	}
	return answers
}

// Own messages can be edited for a limited time, and deleted. Unread chats can be marked as read.
func TestChanges_AreOfferedIfPossible(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, aChat())
	s.logIn()
	page := s.get("/console/chats/"+escapedGrace).want(t, http.StatusOK, "").body
	if strings.Contains(page, "?delete=") {
		t.Error("the page of the chat has the menus of its messages")
	}
	for _, id := range []string{"OWN", "OLD", "HERS"} {
		page += s.get("/console/chats/"+escapedGrace+"/messages/"+id+"/menu").want(t, http.StatusOK, "").body
	}
	for link, want := range map[string]bool{
		"?edit=OWN#composer": true, "?edit=OLD#composer": false, "?edit=HERS#composer": false,
		"?delete=OWN#change": true, "?delete=OLD#change": true, "?delete=HERS#change": true, "?pin=OWN#change": true, "?pin=HERS#change": true,
		`name="upto" value="OWN"`: true,
	} {
		if strings.Contains(page, link) != want {
			t.Errorf("%s is offered: %v", link, !want)
		}
	}
	for query, form := range map[string]string{
		"edit=OWN":   `action="/console/chats/` + escapedGrace + `/messages/OWN/edit"`,
		"pin=HERS":   `action="/console/chats/` + escapedGrace + `/messages/HERS/pin"`,
		"delete=OLD": `action="/console/chats/` + escapedGrace + `/messages/OLD/delete"`,
	} {
		page := s.get("/console/chats/"+escapedGrace+"?"+query).want(t, http.StatusOK, "").body
		if !strings.Contains(page, form) || query == "edit=OWN" && !strings.Contains(page, ">text of OWN</textarea>") {
			t.Errorf("%s shows\n%s", query, page)
		}
	}
}

func TestChanges_ReachTheAPI(t *testing.T) {
	t.Parallel()
	s, all := overAPI(t, aChat())
	token := s.logIn().csrf()
	chat := "/console/chats/" + escapedGrace
	for _, c := range []struct {
		path, form, method, to, body, key string
	}{
		{"/messages/OWN/edit", "text=one%0D%0Atwo&key=k", "PATCH", "/messages/OWN", `{"text":"one\ntwo"}`, "k"},
		{"/messages/OWN/delete", "key=k", "DELETE", "/messages/OWN", "", "k"},
		{"/messages/HERS/pin", "duration=7d&key=k", "POST", "/messages/HERS/pin", `{"duration":"7d"}`, "k"},
		{"/mark", "unpin=HERS&key=k", "DELETE", "/messages/HERS/pin", "", "k"},
		{"/mark", "star=HERS&key=k", "POST", "/messages/HERS/star", "", "k"},
		{"/mark", "unstar=HERS&key=k", "DELETE", "/messages/HERS/star", "", "k"},
		{"/messages/HERS/vote", "option=At+nine&option=At+ten&key=k", "POST", "/messages/HERS/vote", `{"options":["At nine","At ten"]}`, "k"},
		{"/messages/HERS/vote", "key=k", "POST", "/messages/HERS/vote", `{"options":[]}`, "k"},
		{"/messages/HERS/delete", "for=me&key=k", "DELETE", "/messages/HERS", "", "k"},
		{"/read", "upto=OWN", "POST", "/read", `{"msgId":"OWN"}`, ""},
		{"/read", "", "POST", "/read", `{}`, ""},
	} {
		form, err := url.ParseQuery(c.form)
		if err != nil {
			t.Fatal(err)
		}
		*all = nil
		s.do(http.MethodPost, chat+c.path, form).want(t, http.StatusForbidden, "") // without the session's token
		if got := writes(*all); len(got) != 0 {
			t.Errorf("%s without the token: %+v", c.path, got)
		}
		form.Set("csrf", token)
		s.do(http.MethodPost, chat+c.path, form).want(t, http.StatusSeeOther, chat)
		done := writes(*all)
		if len(done) != 1 {
			t.Fatalf("%s: %+v", c.path, done)
		}
		if got := done[0]; got.method != c.method || got.path != "/api/chats/"+grace+c.to || got.body != c.body || got.header.Get("Idempotency-Key") != c.key {
			t.Errorf("%s: %s %s %s with %q", c.path, got.method, got.path, got.body, got.header.Get("Idempotency-Key"))
		}
	}
}

// writes returns the calls that change something.
func writes(all []apiCall) (found []apiCall) {
	for _, one := range all {
		if one.method != http.MethodGet {
			found = append(found, one)
		}
	}
	return found
}

// A refused action is answered with a sentence for people, on a page and to the script. Only visitors who may manage the
// account get the API's own sentence, as details.
func TestChanges_RefusalsAreInWords(t *testing.T) {
	t.Parallel()
	var refusal http.HandlerFunc
	answers := aChat()
	for _, path := range []string{"/api/messages/send", "/api/messages/send/file", "/api/messages/react", "/api/chats/" + grace + "/messages/OWN", "/api/chats/" + grace + "/messages/HERS/pin", "/api/chats/" + grace + "/read"} {
		known := answers[path]
		answers[path] = func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				known(w, r)
				return
			}
			refusal(w, r)
		}
	}
	s, _ := overAPI(t, answers)
	chat := "/console/chats/" + escapedGrace
	actions := map[string]url.Values{
		chat + "/send": {"kind": {"text"}, "text": {"Hello"}}, chat + "/messages/OWN/edit": {"text": {"Hello"}}, chat + "/messages/OWN/delete": {}, chat + "/messages/HERS/pin": {"duration": {"7d"}}, chat + "/read": {},
	}
	for _, c := range []struct {
		status               int
		code, sentence, want string
	}{
		{http.StatusServiceUnavailable, "not_connected", "the account is not paired: POST /api/auth/pair and enter the code on the phone", "No account is linked."},
		{http.StatusServiceUnavailable, "not_connected", "the account is not connected (status closed): WhatsApp cannot be reached: check the internet connection and the DNS of this machine, or set PROXY_URL; trying again", "Can’t reach WhatsApp. Retrying…"},
		{http.StatusServiceUnavailable, "storage_unavailable", "bridged.db cannot be opened: check that the user of this process may read and write all files of DATA_DIR", "The bridge can’t store anything right now."},
		{http.StatusForbidden, "send_disabled", "sending is switched off; start the service with ENABLE_SEND=true", "Sending is turned off on this bridge."},
		{http.StatusBadRequest, "invalid_request", "quotedMsgId is required where quotedChatJid is given", "Check what you entered, then try again."},
		{http.StatusBadRequest, "not_on_network", "the number is not on WhatsApp: check it with POST /api/contacts/check", "This number isn’t on WhatsApp."},
		{http.StatusBadRequest, "not_editable", "the message is older than 15 minutes: send a new one", "Messages can only be edited for 15 minutes. Send a new one."},
		{http.StatusBadRequest, "invalid_request", "the body is not valid JSON: it ends too early", "Check what you entered, then try again."},
		{http.StatusTooManyRequests, "new_chats_limited", "this bridge starts at most 20 new chats in 24h (NEW_CHATS_PER_DAY)", "That’s as many new chats as this bridge starts in a day."},
		{http.StatusGatewayTimeout, "send_timeout", "the network did not confirm the message in time; it may arrive all the same: repeat it with the same Idempotency-Key", "WhatsApp hasn’t confirmed this yet."},
	} {
		refusal = refusesWith(c.status, c.code, c.sentence)
		for _, visitor := range []string{token, "brt_SENDER"} {
			csrf := s.visit(visitor).csrf()
			for path, form := range actions {
				form.Set("csrf", csrf)
				page := s.do(http.MethodPost, path, form).want(t, c.status, "").body
				s.header.Set("Accept", "application/json")
				answer := s.do(http.MethodPost, path, form).want(t, c.status, "").body
				s.header.Del("Accept")
				for _, text := range []string{textOf(page), answer} {
					if !strings.Contains(text, c.want) {
						t.Errorf("%s of %s: %q is not in\n%s", path, c.code, c.want, text)
					}
					if found := unexplained.FindString(text); found != "" && visitor != token {
						t.Errorf("%s of %s: %q is in\n%s", path, c.code, found, text)
					}
					if strings.Contains(text, c.sentence[1:]) != (visitor == token) {
						t.Errorf("%s of %s: the API’s sentence is shown, or missing, in\n%s", path, c.code, text)
					}
				}
			}
		}
	}
}

// unexplained matches what only developers and operators understand.
var unexplained = regexp.MustCompile(`/api|JSON|curl|JID|\b[A-Z]+_[A-Z_]+\b|Idempotency-Key`)

// textOf returns the text of a page.
func textOf(page string) string {
	_, body, _ := strings.Cut(page, "<body")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "))
}

// Calls as curl and JIDs are for visitors who may manage the account.
func TestChats_ShowCurlToManagersOnly(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, aChat())
	chat := "/console/chats/" + escapedGrace
	for visitor, shown := range map[string]bool{token: true, "brt_SENDER": false} {
		s.visit(visitor)
		for _, path := range []string{"/console/chats", chat, chat + "/messages/OWN/menu", "/console/contacts", "/console/calls", "/console/scheduled"} {
			page := s.get(path).body
			if strings.Contains(page, "curl -sS") != shown || path == chat && strings.Contains(page, "Copy JID") != shown {
				t.Errorf("%s for %s:\n%s", path, visitor, page)
			}
		}
	}
}
