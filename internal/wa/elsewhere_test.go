package wa_test

import (
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// TestRemovedElsewhere_KeepsEverythingAndNotifies: deletions on the phone alone keep
// the messages in the store.
func TestRemovedElsewhere_KeepsEverythingAndNotifies(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	id, err := friend.SendText(ctx, a.phone.PN(), "keep me")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message", func() bool { return len(a.messages(jidOf(friend))) == 1 })
	for name, remove := range map[string]func() error{
		"delete for me": func() error { return a.phone.DeleteForMe(ctx, friend.PN(), id, false, friend.PN()) },
		"clear chat":    func() error { return a.phone.ClearChat(ctx, friend.PN(), false) },
		"delete chat":   func() error { return a.phone.DeleteChat(ctx, friend.PN()) },
	} {
		last, err := a.store.LastEvent(ctx)
		if err != nil {
			t.Fatal(err)
		}
		// A device's first change brings the whole state, for which whatsmeow has
		// no event, so the phone makes it again.
		var sent time.Time
		eventually(t, "the event of: "+name, func() bool {
			if time.Since(sent) > time.Second {
				sent = time.Now()
				if err := remove(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			page, err := a.store.Events(ctx, store.EventQuery{After: last, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventChatUpdated}, Chats: []bridge.JID{jidOf(friend)}}})
			if err != nil {
				t.Fatal(err)
			}
			return len(page.Events) > 0
		})
		if list := a.messages(jidOf(friend)); len(list) != 1 || list[0].Content != "keep me" || list[0].DeletedAt != nil {
			t.Errorf("after %s: %+v", name, list)
		}
	}
}
