package store

import (
	"context"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// TestNoMessage_TakesThePlaceholderBack, with its unread, and tells of it as deleted. A
// real message, somebody else's, and one that is not there stay as they are.
func TestNoMessage_TakesThePlaceholderBack(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, says(alice, alice, "REAL", 1, "hello"), placeholder(alice, aliceLID, "NONE", 2), placeholder(alice, alice, "MINE", 3))
	before, err := s.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, bridge.NoMessage{Chat: alice, ID: "REAL", Sender: alice}, bridge.NoMessage{Chat: alice, ID: "ELSE", Sender: alice},
		bridge.NoMessage{Chat: alice, ID: "MINE", Sender: me, FromMe: true}, bridge.NoMessage{Chat: aliceLID, ID: "NONE", Sender: bob})
	sameList(t, "what stays", ids(historyOf(t, s, alice)), []string{"REAL", "NONE", "MINE"})
	none := bridge.NoMessage{Chat: aliceLID, ID: "NONE", Sender: aliceLID}
	save(t, s, none)
	save(t, s, none)
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"REAL", "MINE"})
	if chat, err := s.Chat(ctx, alice); err != nil || chat.UnreadCount != 2 || chat.LastMessage.ID != "MINE" {
		t.Errorf("chat %+v, %v", chat, err)
	}
	page, err := s.Events(ctx, read.EventQuery{After: before})
	if err != nil || len(page.Events) != 1 {
		t.Fatalf("the log tells %+v, %v", page.Events, err)
	}
	e := page.Events[0]
	if e.Type != bridge.EventMessageUpdated || e.ChatJID != alice || e.Message.ID != "NONE" || e.Message.DeletedAt == nil ||
		e.Message.SenderJID != alice || e.Message.SenderLID != aliceLID || e.Message.FromMe || !e.Message.Timestamp.Equal(at(2).Time) {
		t.Errorf("told as %+v", e.Message)
	}
	save(t, s, says(alice, alice, "NONE", 2, "a message after all"))
	sameList(t, "history", ids(historyOf(t, s, alice)), []string{"REAL", "NONE", "MINE"})
}
