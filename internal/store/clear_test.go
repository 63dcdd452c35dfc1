package store

import (
	"fmt"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// clearOf clears a chat of more messages than one transaction removes.
func clearOf(t *testing.T, c bridge.ChatClearing) *Store {
	t.Helper()
	s, pending := newStore(t), bridge.DeliveryPending
	facts := []bridge.Fact{owner(), says(bob, bob, "B1", 1, "stays")}
	for i := range retainBatch + 20 {
		facts = append(facts, says(alice, alice, fmt.Sprintf("A%d", i), 2+i, fmt.Sprintf("needle %d", i)))
	}
	sending := says(alice, me, "SENDING", 3, "needle being sent")
	sending.FromMe, sending.Status = true, &pending
	quoting := says(bob, bob, "B2", 4, "about that")
	quoting.ContextInfo = &bridge.ContextInfo{QuotedMsgID: ptr("A1"), QuotedSenderJID: alice}
	quoting.Quoted = &bridge.Quoted{MsgID: "A1", ChatJID: alice, SenderJID: alice, MessageType: "conversation", Content: "needle 1", Origin: bridge.QuoteEmbedded}
	save(t, s, append(facts, star(alice, "A7", 999, true), sending, quoting)...)
	save(t, s, says(alice, alice, "LATER", 9999, "a later needle"))
	c.Chat, c.Until = alice, at(5000)
	if err := s.ClearChat(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestClearChat_RemovesWhatIsOlder: messages that are being sent, later and, if asked for, starred ones
// stay. What quotes a removed one in another chat loses its copy.
func TestClearChat_RemovesWhatIsOlder(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		s := clearOf(t, bridge.ChatClearing{KeepStarred: keep})
		want := "LATER SENDING"
		if keep {
			want = "LATER A7 SENDING"
		}
		var got string
		for _, m := range messages(t, s, bridge.MessageQuery{Chat: alice}) {
			got += " " + m.ID
		}
		if got != " "+want {
			t.Errorf("starred stay %v: left %q, want %q", keep, got, want)
		}
		found, err := s.Search(t.Context(), bridge.SearchQuery{Q: "needle", Limit: 500})
		if err != nil || len(found.Items) != len(messages(t, s, bridge.MessageQuery{Chat: alice})) {
			t.Errorf("%d are found, %v", len(found.Items), err)
		}
		if q := message(t, s, bob, "B2").Quoted; q == nil || q.Content != "" {
			t.Errorf("the quote has %+v", q)
		}
		if c, err := s.Chat(t.Context(), alice); err != nil || c.UnreadCount > 2 || c.LastMessage == nil || c.LastMessage.ID != "LATER" {
			t.Errorf("the chat is %+v, %v", c, err)
		}
	}
}

// TestClearChat_DeletedChatsComeBack with their next message. Until then no list has them, but their last
// event does.
func TestClearChat_DeletedChatsComeBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "A1", 1, "first"), says(bob, bob, "B1", 2, "stays"))
	listed := func(want int) {
		t.Helper()
		if got := len(chats(t, s, bridge.ChatQuery{})); got != want {
			t.Errorf("%d chats, want %d", got, want)
		}
		if n, err := s.Count(t.Context(), at(0)); err != nil || n.Chats != want {
			t.Errorf("counted %+v, %v", n, err)
		}
	}
	last, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a repeated call changes nothing
		if err := s.ClearChat(t.Context(), bridge.ChatClearing{Chat: aliceLID, Until: at(10), Delete: true}); err != nil {
			t.Fatal(err)
		}
	}
	listed(1)
	for _, jid := range []bridge.JID{alice, aliceLID} {
		if _, err := s.Chat(t.Context(), jid); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("%s: %v", jid, err)
		}
		if _, err := s.Messages(t.Context(), bridge.MessageQuery{Chat: jid}); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("messages of %s: %v", jid, err)
		}
	}
	if contact, err := s.Contact(t.Context(), alice); err != nil || contact.ChatJID != "" {
		t.Errorf("the contact is %+v, %v", contact, err)
	}
	log := events(t, s, read.EventQuery{After: last}).Events
	if len(log) == 0 || log[0].Type != bridge.EventChatUpdated || log[0].ChatJID != alice || log[0].Chat.LastMessage != nil {
		t.Errorf("logged %+v", log)
	}
	save(t, s, bridge.RemovedElsewhere{Chat: alice}, says(alice, alice, "A2", 20, "again"))
	listed(2)
	if c, err := s.Chat(t.Context(), alice); err != nil || c.LastMessage.ID != "A2" {
		t.Errorf("the chat is %+v, %v", c, err)
	}
	if fresh, err := s.IsNewChat(t.Context(), alice); err != nil || fresh {
		t.Errorf("a new chat: %v, %v", fresh, err)
	}
}
