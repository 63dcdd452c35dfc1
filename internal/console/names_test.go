package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

const club = "120363025246125486@g.us"

// knownContact is a person as the API lists them.
func knownContact(jid, name, pushName string) string {
	number, _, _ := strings.Cut(jid, "@")
	return fmt.Sprintf(`{"jid":%q,"lid":null,"phone":%q,"username":null,"name":%q,"pushName":%q,"businessName":"","isSaved":%v,"chatJid":null}`, jid, number, name, pushName, name != "")
}

func contactsList(contacts ...string) string {
	return fmt.Sprintf(`{"count":%d,"contacts":[%s],"nextCursor":null,"hasMore":false}`, len(contacts), strings.Join(contacts, ","))
}

// TestNames_AreTheSameEverywhere: the name of the address book wins in bubbles, quotes, mentions,
// reactions, votes, lists, search results and calls. A page requests all names in one call.
func TestNames_AreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	const dora = "49151000077@s.whatsapp.net"
	token, quoted := "@49151000077", "M0"
	message := bridge.Message{
		Chat: club, ID: "M1", SenderJID: grace, PushName: "gracie", MessageType: "conversation", Content: "ask @49151000077",
		ContextInfo: &bridge.ContextInfo{QuotedMsgID: &quoted, QuotedSenderJID: alan, Mentions: []bridge.Mention{{JID: dora, Name: "dodo", Token: &token}}},
		Quoted:      &bridge.Quoted{MsgID: "Q", Origin: bridge.QuoteStored, SenderJID: alan, PushName: "al", MessageType: "conversation", Content: "why?"},
		Reactions:   []bridge.MessageReaction{{SenderJID: dora, Emoji: "👍"}},
	}
	poll := bridge.Message{
		Chat: club, ID: "M2", SenderJID: alan, PushName: "al", MessageType: "pollCreationMessage", Reactions: []bridge.MessageReaction{},
		Poll: &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now", Votes: 2, Voters: []bridge.JID{grace, "15550100999@s.whatsapp.net"}}}},
	}
	items, err := bridge.EncodeJSON([]bridge.Message{poll, message})
	if err != nil {
		t.Fatal(err)
	}
	one, err := bridge.EncodeJSON(message)
	if err != nil {
		t.Fatal(err)
	}
	chat := `{"jid":"` + club + `","isGroup":true,"name":"Club","participants":4,"lastMessage":{"msgId":"M1","fromMe":false,"senderJid":"` + grace + `","pushName":"gracie","messageType":"conversation","content":"ask","timestamp":"2026-11-21T08:15:30.000Z"}}`
	s, all := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats":                          replies(`{"count":1,"chats":[` + chat + `],"nextCursor":null}`),
		"/api/chats/" + club:                  replies(chat),
		"/api/chats/" + club + "/messages":    replies(`{"jid":"` + club + `","count":2,"nextCursor":null,"hasMore":false,"messages":` + string(items) + `}`),
		"/api/chats/" + club + "/messages/M1": replies(`{"chatJid":"` + club + `","message":` + string(one) + `}`),
		"/api/messages/search":                replies(`{"count":1,"nextCursor":null,"matches":[{"chatJid":"` + club + `","chatName":"Club","isGroup":true,"msgId":"M1","senderJid":"` + grace + `","pushName":"gracie","fromMe":false,"content":"ask","messageType":"conversation","timestamp":"2026-11-21T08:15:30.000Z"}]}`),
		"/api/contacts":                       replies(contactsList(knownContact(grace, "Grace Hopper", "gracie"), knownContact(alan, "Alan Turing", "al"), knownContact(dora, "", "Dora"))),
	})
	s.logIn()
	asked := func() (n int) {
		for _, one := range *all {
			if one.path == "/api/contacts" {
				n++
			}
		}
		return n
	}
	*all = nil
	page := s.get("/console/chats/"+club).want(t, http.StatusOK, "").body
	for _, want := range []string{
		`<bdi>Grace Hopper</bdi></p>`, `<strong><bdi>Alan Turing</bdi></strong>`, `<bdi>@Dora</bdi>`, `title="Dora"`,
		`title="Grace Hopper, &#43;1 555 010 0999"`, "Grace Hopper: ask",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the chat lacks %s", want)
		}
	}
	for _, other := range []string{"gracie", "dodo", ">al<"} {
		if strings.Contains(page, other) {
			t.Errorf("the chat calls somebody %s", other)
		}
	}
	if n := asked(); n != 2 {
		t.Errorf("a chat asked %d times for names, want once for its list and once for its messages", n)
	}
	if page := s.get("/console/search?q=ask").body; !strings.Contains(page, "Grace Hopper:") || strings.Contains(page, "gracie") {
		t.Errorf("a search hit has another name:\n%s", page)
	}
}

// A chat without a name shows its number, and so do its messages.
func TestNames_NumbersLookTheSame(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/chats": replies(`{"count":1,"chats":[{"jid":"` + grace + `","isGroup":false,"name":"15550100301","participants":2}],"nextCursor":null}`),
	})
	s.logIn()
	if page := s.get("/console/chats").body; !strings.Contains(page, "<bdi>&#43;1 555 010 0301</bdi>") {
		t.Errorf("the list is\n%s", page)
	}
}
