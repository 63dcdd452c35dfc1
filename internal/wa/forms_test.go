package wa_test

import (
	"slices"
	"testing"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// Newer forms of stanzas and messages that the network used to send in other forms.

// contents returns the contents of a chat's messages.
func (a *account) contents(chat bridge.JID) (out []string) {
	a.t.Helper()
	for _, m := range a.messages(chat) {
		out = append(out, m.Content)
	}
	return out
}

// TestMessage_WithoutASessionIsRead: a message that begins a session without
// keeping it is read, and so are later ones on the existing sessions.
func TestMessage_WithoutASessionIsRead(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.device().StatelessKeys(1)
	var want []string
	for _, text := range []string{"first", "second", "third"} {
		want = append(want, text)
		if _, err := friend.SendText(ctx, a.phone.PN(), text); err != nil {
			t.Fatal(err)
		}
		eventually(t, text, func() bool { return slices.Equal(a.contents(jidOf(friend)), want) })
	}
	if _, err := a.send(jidOf(friend), "an answer"); err != nil {
		t.Fatal(err)
	}
	if _, err := friend.ReceivedText(ctx, "an answer"); err != nil {
		t.Error(err)
	}
}

// TestGroup_DeletedWithoutAReason: the account is no longer a member, and the chat
// stays.
func TestGroup_DeletedWithoutAReason(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	sam := newPhone(t, network, "15550100301", "Sam")
	group, jid := a.group(sam, false, a.phone)
	a.device().Push(waBinary.Node{Tag: "notification", Attrs: waBinary.Attrs{
		"from": group.JID(), "participant": sam.LID(), "type": "w:gp2", "id": "DELETED", "t": "1795000000",
	}, Content: []waBinary.Node{{Tag: "delete"}}})
	eventually(t, "the account has left", func() bool {
		stored, err := a.store.Group(testContext(t), jid)
		return err == nil && !slices.ContainsFunc(stored.Participants, func(p bridge.Participant) bool { return p.JID == jidOf(a.phone) })
	})
}

// TestMessage_OfANumberGroupByLID: groups that are addressed by number name some
// senders by LID, together with the number.
func TestMessage_OfANumberGroupByLID(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	sam := newPhone(t, network, "15550100301", "Sam")
	group, jid := a.group(sam, true, a.phone)
	a.deliver(&events.Message{
		Info: types.MessageInfo{ID: "BYLID", Timestamp: time.Now(), MessageSource: types.MessageSource{
			Chat: group.JID(), IsGroup: true, Sender: sam.LID(), SenderAlt: sam.PN(), AddressingMode: types.AddressingModePN,
		}},
		Message: text("hello"), RawMessage: text("hello"),
	})
	if m, err := a.store.Message(testContext(t), jid, "BYLID"); err != nil || m.SenderJID != jidOf(sam) {
		t.Errorf("the sender is %s (%v), want %s", m.SenderJID, err, jidOf(sam))
	}
}

// TestMessage_ABotWritesBitByBit: each update replaces the answer's earlier text.
func TestMessage_ABotWritesBitByBit(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	at := time.Now()
	for i, bit := range []struct {
		id, says string
		info     types.MsgBotInfo
	}{
		{"BOT1", "The", types.MsgBotInfo{EditType: types.EditTypeFirst}},
		{"BOT2", "The capital", types.MsgBotInfo{EditType: types.EditTypeInner, EditTargetID: "BOT1"}},
		{"BOT3", "The capital is", types.MsgBotInfo{EditType: types.EditTypeFull, EditTargetID: "BOT1"}},
		{"BOT4", "The capital is Paris.", types.MsgBotInfo{EditType: types.EditTypeLast, EditTargetID: "BOT1"}},
	} {
		bit.info.EditSenderTimestampMS = at.Add(time.Duration(i) * time.Millisecond)
		a.deliver(&events.Message{
			Info: types.MessageInfo{ID: bit.id, Timestamp: at, MsgBotInfo: bit.info, MessageSource: types.MessageSource{
				Chat: types.MetaAIJID, Sender: types.MetaAIJID,
			}},
			Message: text(bit.says), RawMessage: text(bit.says),
		})
	}
	if got, want := a.contents(bridge.JID(types.MetaAIJID.String())), []string{"The capital is Paris."}; !slices.Equal(got, want) {
		t.Errorf("the chat shows %q, want %q", got, want)
	}
}

// deliver hands an event to the account, which has to acknowledge it.
func (a *account) deliver(event any) {
	a.t.Helper()
	if acknowledged, err := a.manager.Deliver(event); err != nil || !acknowledged {
		a.t.Fatalf("acknowledged: %v, %v", acknowledged, err)
	}
}

func text(s string) *waE2E.Message { return &waE2E.Message{Conversation: proto.String(s)} }
