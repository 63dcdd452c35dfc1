package console_test

import (
	"net/http"
	"net/url"
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

// The page shows the sentence of the API's refusal.
func TestChanges_RefusalsAreShown(t *testing.T) {
	t.Parallel()
	answers := aChat()
	answers["/api/chats/"+grace+"/messages/OLD"] = func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		replies(`{"error":"the message is older than 15 minutes: send a new one","code":"not_editable"}`)(w, r)
	}
	s, _ := overAPI(t, answers)
	form := url.Values{"csrf": {s.logIn().csrf()}, "text": {"better"}}
	page := s.do(http.MethodPost, "/console/chats/"+escapedGrace+"/messages/OLD/edit", form).want(t, http.StatusBadRequest, "").body
	if !strings.Contains(page, "older than 15 minutes") {
		t.Errorf("shows\n%s", page)
	}
}
