package console_test

import (
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// TestChat_ShowsTheUsername next to the number, with markup escaped.
func TestChat_ShowsTheUsername(t *testing.T) {
	t.Parallel()
	const fay = "236395184570399@lid"
	m := bridge.Message{Chat: fay, ID: "M1", SenderJID: fay, SenderLID: fay, MessageType: "conversation", Content: "hello", Reactions: []bridge.MessageReaction{}}
	items, err := bridge.EncodeJSON([]bridge.Message{m})
	body := append([]byte(`{"jid":"`+fay+`","count":1,"nextCursor":null,"hasMore":false,"messages":`), items...)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats/" + fay:               replies(`{"jid":"` + fay + `","lid":"` + fay + `","username":"fay<b>","isGroup":false,"name":"Fay","participants":2}`),
		"/api/chats/" + fay + "/messages": replies(string(body) + "}"),
	})
	s.logIn()
	page := s.get("/console/chats/"+fay).want(t, http.StatusOK, "")
	if want := `<bdi>@fay&lt;b&gt;</bdi>, Hidden number …0399`; !strings.Contains(page.body, want) {
		t.Errorf("the page lacks %q", want)
	}
}
