package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const choir = "1203630954126421017@g.us"

// The composer of a group suggests the members except the account itself.
func TestMentions_AreOfTheMembers(t *testing.T) {
	t.Parallel()
	member := func(jid, name string) string {
		return `{"jid":"` + jid + `","lid":null,"username":null,"displayName":"` + name + `","isAdmin":false,"isSuperAdmin":false,"label":""}`
	}
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/auth/status": replies(`{"status":"open","since":"2026-11-21T08:15:30.000Z","user":{"jid":"15550100300@s.whatsapp.net","lid":null,"pushName":"Me"}}`),
		"/api/groups/" + choir: replies(`{"jid":"` + choir + `","live":null,"stored":{"jid":"` + choir + `","name":"Choir","participants":[` +
			strings.Join([]string{member("15550100300@s.whatsapp.net", "Me"), member(grace, "Grace <b>"), member("236395184570399@lid", "")}, ",") + `]}}`),
	})
	s.logIn()
	got := s.get("/console/chats/"+choir+"/mentions").want(t, http.StatusOK, "").body
	for _, want := range []string{
		`"jid":"` + grace + `","token":"@15550100301","name":"Grace <b>","number":"+1 555 010 0301"`,
		`"jid":"236395184570399@lid","token":"@236395184570399","name":"Hidden number …0399"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("answers %s, without %s", got, want)
		}
	}
	if strings.Contains(got, "15550100300") {
		t.Errorf("the account may mention itself: %s", got)
	}
	s.get("/console/chats/"+grace+"/mentions").want(t, http.StatusNotFound, "")
}

// An edit that adds mentions retains the old ones in the text.
func TestEdit_RetainsAndAddsMentions(t *testing.T) {
	t.Parallel()
	const path = "/api/chats/" + choir + "/messages/OWN"
	s, all := overAPI(t, map[string]http.HandlerFunc{path: func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			replies(`{"chatJid":"`+choir+`","message":{"msgId":"OWN","fromMe":true,"content":"@111111 and @222222","reactions":[],"contextInfo":{"mentionedJid":[],"mentions":[`+
				`{"jid":"111111@s.whatsapp.net","lid":null,"name":"A","token":"@111111"},{"jid":"222222@s.whatsapp.net","lid":null,"name":"B","token":"@222222"}]}}}`)(w, r)
			return
		}
		replies(`{"ok":true,"msgId":"OWN","chatJid":"`+choir+`"}`)(w, r)
	}})
	token := s.logIn().csrf()
	for mention, want := range map[string]string{
		"":                      `{"text":"@111111 and @333333"}`,
		"333333@s.whatsapp.net": `{"mentions":["333333@s.whatsapp.net","111111@s.whatsapp.net"],"text":"@111111 and @333333"}`,
	} {
		*all = nil
		form := url.Values{"csrf": {token}, "text": {"@111111 and @333333"}, "key": {"k"}}
		if mention != "" {
			form.Set("mention", mention)
		}
		s.do(http.MethodPost, "/console/chats/"+choir+"/messages/OWN/edit", form)
		if done := writes(*all); len(done) != 1 || done[0].body != want {
			t.Errorf("with %q: %+v, want %s", mention, done, want)
		}
	}
}
