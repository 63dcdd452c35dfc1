package wa_test

import (
	"context"
	"testing"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestStrangeIDs_LeaveAsTheyCame: a message whose id cannot be part of a path is
// shown under a generated one. Reactions, quotes, receipts, edits and deletions use
// the id that its sender knows, and so do requests and notifications to the
// account's phone.
func TestStrangeIDs_LeaveAsTheyCame(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "crew", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	for name, chat := range map[string]struct {
		theirs, ours simnet.JID // as addressed by the friend and by the account's phone
		jid          bridge.JID
	}{
		"private": {a.phone.PN(), friend.PN(), jidOf(friend)},
		"group":   {group.JID(), group.JID(), bridge.JID(group.JID().String())},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, ours := "a/../b ü "+name, "c%2Fd "+name
			if _, err := friend.SendText(ctx, chat.theirs, "theirs", simnet.WithID(theirs)); err != nil {
				t.Fatal(err)
			}
			if _, err := a.phone.SendText(ctx, chat.ours, "ours", simnet.WithID(ours)); err != nil {
				t.Fatal(err)
			}
			eventually(t, "both messages", func() bool { return len(a.messages(chat.jid)) == 2 })
			their, own := a.stored(ctx, chat.jid, "theirs"), a.stored(ctx, chat.jid, "ours")
			send := func(content bridge.Content, quote *bridge.Message) *simnet.Received {
				t.Helper()
				sent, err := a.manager.Send(ctx, bridge.Outgoing{To: chat.jid, Content: content, Quote: quote})
				if err != nil {
					t.Fatal(err)
				}
				got, err := friend.ReceivedID(ctx, sent.ID)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			for what, named := range map[string][2]string{
				"reaction": {theirs, send(bridge.Reaction{Target: their, Emoji: "👍"}, nil).Message.Message.GetReactionMessage().GetKey().GetID()},
				"quote":    {theirs, send(bridge.Text{Text: "indeed"}, &their).Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID()},
				"edit":     {ours, send(bridge.TextEdit{Target: own, Text: "edited"}, nil).Message.RawMessage.GetEditedMessage().GetMessage().GetProtocolMessage().GetKey().GetID()},
				"deletion": {ours, send(bridge.Revocation{Target: own}, nil).Message.Message.GetProtocolMessage().GetKey().GetID()},
			} {
				if named[1] != named[0] {
					t.Errorf("the %s names %q, want %q", what, named[1], named[0])
				}
			}
			if forwarded := send(bridge.Forward{Source: their}, nil); forwarded.Text() != "theirs" {
				t.Errorf("forwarded %q", forwarded.Text())
			}
			if m := a.stored(ctx, chat.jid, "theirs"); len(m.Reactions) != 1 {
				t.Errorf("the reaction is not at its message: %+v", m)
			}
			a.readAll(ctx, t, chat.jid, friend, theirs)
		})
	}
}

// stored returns a message of a chat by its text, with all its fields.
func (a *account) stored(ctx context.Context, chat bridge.JID, text string) bridge.Message {
	a.t.Helper()
	for _, m := range a.messages(chat) {
		if m.Content != text {
			continue
		}
		whole, err := a.store.Message(ctx, chat, m.ID)
		if err != nil {
			a.t.Fatal(err)
		}
		return whole
	}
	a.t.Fatalf("no message %q in %s", text, chat)
	panic("unreachable")
}

// readAll marks a chat as read whose last message has a strange id, and requests
// earlier messages from the phone.
func (a *account) readAll(ctx context.Context, t *testing.T, chat bridge.JID, friend *simnet.Phone, id string) {
	t.Helper()
	last := "last: " + id
	to := a.phone.PN()
	if chat.IsGroup() {
		to, _ = types.ParseJID(string(chat))
	}
	if _, err := friend.SendText(ctx, to, "the last", simnet.WithID(last)); err != nil {
		t.Fatal(err)
	}
	var shown bridge.Chat
	eventually(t, "the last message", func() bool {
		var err error
		shown, err = a.store.Chat(ctx, chat)
		return err == nil && shown.LastMessage != nil && shown.LastMessage.Content == "the last"
	})
	if err := a.manager.MarkRead(ctx, shown, ""); err != nil {
		t.Fatal(err)
	}
	for _, read := range []string{id, last} {
		if _, err := friend.WaitReceipt(ctx, read, types.ReceiptTypeRead); err != nil {
			t.Errorf("the receipt for %q: %v", read, err)
		}
	}
	_, err := a.phone.Event(ctx, func(event any) bool {
		state, ok := event.(*events.AppState)
		if !ok || state.Index[0] != appstate.IndexMarkChatAsRead {
			return false
		}
		marked := state.GetMarkChatAsReadAction().GetMessageRange().GetMessages()
		return len(marked) == 1 && marked[0].GetKey().GetID() == last
	})
	if err != nil {
		t.Errorf("the mark of the last message: %v", err)
	}
	oldest, before := a.stored(ctx, chat, "theirs"), len(a.phone.HistoryRequests())
	oldest.Chat, oldest.WireID = chat, "" // as lists have it
	if _, err := a.manager.AskHistory(ctx, oldest, 5); err != nil {
		t.Fatal(err)
	}
	if err := a.phone.WaitHistoryRequests(ctx, before+1); err != nil {
		t.Fatal(err)
	}
	if asked := a.phone.HistoryRequests()[before]; asked.Before != id {
		t.Errorf("asked for what came before %q, want %q", asked.Before, id)
	}
}
