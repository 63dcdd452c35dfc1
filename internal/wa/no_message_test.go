package wa_test

import (
	"context"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// TestUndecrypted_ThatProvesToBeNoMessage: an undecryptable stanza that turns out
// to be a setting of the chat, a kept message, a reaction or an edit leaves no
// placeholder and nothing unread.
func TestUndecrypted_ThatProvesToBeNoMessage(t *testing.T) {
	t.Parallel()
	key := func(id string) *waCommon.MessageKey {
		return &waCommon.MessageKey{ID: &id, FromMe: proto.Bool(true)}
	}
	for name, test := range map[string]struct {
		damaged int
		msg     func(first string) *waE2E.Message
	}{
		"a timer": {1, func(string) *waE2E.Message {
			return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(), EphemeralExpiration: proto.Uint32(86400)}}
		}},
		"a kept message": {1, func(first string) *waE2E.Message {
			return &waE2E.Message{KeepInChatMessage: &waE2E.KeepInChatMessage{Key: key(first), KeepType: waE2E.KeepType_KEEP_FOR_ALL.Enum()}}
		}},
		"a reaction": {2, func(first string) *waE2E.Message {
			return &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Key: key(first), Text: proto.String("👍")}}
		}},
		"an edit": {2, func(first string) *waE2E.Message {
			return &waE2E.Message{EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
				Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: key(first), EditedMessage: &waE2E.Message{Conversation: proto.String("edited")},
			}}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			network := newNetwork(t)
			a := newAccount(t, network)
			friend := newPhone(t, network, "15550100301", "Sam")
			first, err := friend.SendText(ctx, a.phone.PN(), "first")
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the first message", func() bool { return len(a.messages(jidOf(friend))) == 1 })
			if err := a.device().WaitQuiet(ctx); err != nil {
				t.Fatal(err)
			}
			a.phone.Disconnect() // it would resend the message at once
			a.device().CorruptMessages(test.damaged)
			if _, err := friend.Send(ctx, a.phone.PN(), test.msg(first), simnet.WithID("NONE")); err != nil {
				t.Fatal(err)
			}
			a.awaitRemoval(ctx, "NONE")
			if list := a.messages(jidOf(friend)); len(list) != 1 || list[0].ID != first {
				t.Errorf("stored %+v", list)
			}
			if chat, err := a.store.Chat(ctx, jidOf(friend)); err != nil || chat.UnreadCount != 1 {
				t.Errorf("chat %+v, %v", chat, err)
			}
		})
	}
}

// awaitRemoval waits until the log has the events of a placeholder and of its
// removal.
func (a *account) awaitRemoval(ctx context.Context, id string) {
	a.t.Helper()
	eventually(a.t, "the end of the placeholder", func() bool {
		page, err := a.store.Events(ctx, store.EventQuery{Limit: 1000})
		if err != nil {
			a.t.Fatal(err)
		}
		for _, e := range page.Events {
			if e.Type == bridge.EventMessageUpdated && e.Message.ID == id && e.Message.DeletedAt != nil {
				return true
			}
		}
		return false
	})
}
