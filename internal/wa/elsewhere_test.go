package wa_test

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"google.golang.org/protobuf/proto"

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
	chat := friend.PN().String()
	forMe := appstate.PatchInfo{Type: appstate.WAPatchRegularHigh, Mutations: []appstate.MutationInfo{{
		Index: []string{appstate.IndexDeleteMessageForMe, chat, id, "0", "0"}, Version: 3,
		Value: &waSyncAction.SyncActionValue{DeleteMessageForMeAction: &waSyncAction.DeleteMessageForMeAction{DeleteMedia: proto.Bool(true)}},
	}}}
	cleared := appstate.PatchInfo{Type: appstate.WAPatchRegularHigh, Mutations: []appstate.MutationInfo{{
		Index: []string{appstate.IndexClearChat, chat, "1", "0"}, Version: 6,
		Value: &waSyncAction.SyncActionValue{ClearChatAction: &waSyncAction.ClearChatAction{}},
	}}}
	for name, patch := range map[string]appstate.PatchInfo{
		"delete for me": forMe, "clear chat": cleared, "delete chat": appstate.BuildDeleteChat(friend.PN(), time.Time{}, nil, true),
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
				if err := a.phone.SendAppState(ctx, patch); err != nil {
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
