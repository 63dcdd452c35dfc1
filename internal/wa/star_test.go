package wa_test

import (
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// stars stars a message, or removes the star, and checks what phone and store show.
func (a *account) stars(in types.JID, m bridge.Message, author *simnet.Phone, starred bool) {
	a.t.Helper()
	ctx := testContext(a.t)
	if err := a.manager.Star(ctx, m, starred); err != nil {
		a.t.Fatal(err)
	}
	if shown, err := a.phone.Starred(ctx, in, m.ID, m.FromMe, author.LID()); err != nil || shown != starred {
		a.t.Errorf("%s: the phone shows a star: %v (%v), want %v", m.Content, shown, err, starred)
	}
	if got := a.message(m.Chat, m.ID); got.Starred != starred {
		a.t.Errorf("%s: stored as starred: %v, want %v", m.Content, got.Starred, starred)
	}
}

// receivedFrom returns a message that a friend wrote to the account, and one in a group, by the phone's chat.
func (a *account) receivedFrom(friend *simnet.Phone) map[types.JID]bridge.Message {
	a.t.Helper()
	group, club := a.group(friend, false, a.phone)
	chat := jidOf(friend)
	return map[types.JID]bridge.Message{
		friend.PN(): a.message(chat, a.receive(friend, a.phone.PN(), chat, "theirs")[0]),
		group.JID(): a.message(club, a.receive(friend, group.JID(), club, "theirs")[0]),
	}
}

// TestStar_ShowsOnThePhone: stars on own and on received messages, in a chat and in a group.
func TestStar_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	for in, theirs := range a.receivedFrom(friend) {
		for author, m := range map[*simnet.Phone]bridge.Message{friend: theirs, a.phone: a.sendStored(theirs.Chat, "own")} {
			for _, starred := range []bool{true, false, true} {
				a.stars(in, m, author, starred)
			}
		}
	}
}

// TestStar_FollowsThePhone: stars in the first whole state, and single changes, each with one event. A
// star may come before its message.
func TestStar_FollowsThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, club := a.group(friend, false, a.phone)
	id := a.receive(friend, a.phone.PN(), jidOf(friend), "hello")[0]
	inGroup := a.receive(friend, group.JID(), club, "hello all")[0]
	for _, step := range []struct {
		chat    bridge.JID
		in      types.JID
		id      string
		starred bool
	}{
		{jidOf(friend), friend.LID(), id, true}, // whatsmeow has no event for it
		{club, group.JID(), inGroup, true},
		{jidOf(friend), friend.PN(), id, false},
		{jidOf(friend), friend.PN(), id, true},
	} {
		if err := a.phone.Star(ctx, step.in, step.id, false, friend.LID(), step.starred); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the star", func() bool { return a.message(step.chat, step.id).Starred == step.starred })
	}
	// The bridge's next change applies to the phone's state.
	a.stars(friend.PN(), a.message(jidOf(friend), id), friend, false)
}

// TestStar_StoresWhatWasAccepted: a refused change changes nothing, and a lost answer is asked for
// again.
func TestStar_StoresWhatWasAccepted(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	m := a.message(jidOf(friend), a.receive(friend, a.phone.PN(), jidOf(friend), "hello")[0])
	a.device().FailQueries(simnet.IQFault{Within: "patch", Code: 400, Text: "bad-request", Times: 1})
	err := a.manager.Star(ctx, m, true)
	if bridge.CodeOf(err) != bridge.CodeSendRefused || a.message(m.Chat, m.ID).Starred {
		t.Errorf("refused: %v, stored %+v", err, a.message(m.Chat, m.ID))
	}
	a.device().FailQueries(simnet.IQFault{Within: "patch", LoseAnswer: true, HangUp: true, Times: 1})
	a.stars(friend.PN(), m, friend, true)
}

// TestDeleteForMe_GoesFromThePhone: own and received messages, in a chat and in a group. The friend keeps
// them, and the account's own change is no deletion elsewhere.
func TestDeleteForMe_GoesFromThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	for in, theirs := range a.receivedFrom(friend) {
		chat := theirs.Chat
		own := a.sendStored(chat, "own")
		if _, err := friend.ReceivedID(ctx, own.ID); err != nil {
			t.Fatal(err)
		}
		before := a.chatUpdates(chat)
		for author, m := range map[*simnet.Phone]bridge.Message{friend: theirs, a.phone: own} {
			if err := a.manager.DeleteForMe(ctx, m); err != nil {
				t.Fatal(err)
			}
			if gone, err := a.phone.DeletedForMe(ctx, in, m.ID, m.FromMe, author.LID()); err != nil || !gone {
				t.Errorf("%s: deleted on the phone: %v, %v", m.Content, gone, err)
			}
			if got := a.message(chat, m.ID); got.DeletedAt == nil || got.Content != "" || len(got.Raw) != 0 {
				t.Errorf("%s: stored %+v", m.Content, got)
			}
			if bubble, ok := friend.Bubble(m.ID); m.FromMe && (!ok || bubble.Deleted) {
				t.Errorf("%s: the friend sees %+v, %v", m.Content, bubble, ok)
			}
		}
		if err := network.Settle(ctx); err != nil {
			t.Fatal(err)
		}
		if n := a.chatUpdates(chat) - before; n != 0 {
			t.Errorf("%d events of changes of the chat", n)
		}
	}
}

// TestClearChat_GoesFromThePhone: a chat is cleared without its starred message, cleared and deleted. A
// message that comes later shows the chat again.
func TestClearChat_GoesFromThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	chat := jidOf(friend)
	ids := a.receive(friend, a.phone.PN(), chat, "one", "two", "three")
	a.stars(friend.PN(), a.message(chat, ids[0]), friend, true)
	for _, step := range []struct {
		clearing bridge.ChatClearing
		left     int
	}{{bridge.ChatClearing{KeepStarred: true}, 1}, {bridge.ChatClearing{}, 0}} {
		last := a.chatWith(friend).LastMessage.Timestamp
		if err := a.manager.ClearChat(ctx, a.chatWith(friend), step.clearing); err != nil {
			t.Fatal(err)
		}
		shown, err := a.phone.Cleared(ctx, friend.PN())
		if err != nil || shown.Deleted || shown.KeepStarred != step.clearing.KeepStarred || shown.Until.Unix() != last.Unix() {
			t.Errorf("%+v: the phone shows %+v, %v", step.clearing, shown, err)
		}
		if got := a.messages(chat); len(got) != step.left {
			t.Errorf("%+v: left %+v", step.clearing, got)
		}
	}
	a.receive(friend, a.phone.PN(), chat, "four")
	events := a.chatUpdates(chat)
	if err := a.manager.ClearChat(ctx, a.chatWith(friend), bridge.ChatClearing{Delete: true}); err != nil {
		t.Fatal(err)
	}
	if shown, err := a.phone.Cleared(ctx, friend.PN()); err != nil || !shown.Deleted {
		t.Errorf("deleted: the phone shows %+v, %v", shown, err)
	}
	if _, err := a.store.Chat(ctx, chat); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("the deleted chat: %v", err)
	}
	if n := a.chatUpdates(chat) - events; n != 1 {
		t.Errorf("%d events", n)
	}
	a.receive(friend, a.phone.PN(), chat, "five")
	if got := a.messages(chat); len(got) != 1 || got[0].Content != "five" {
		t.Errorf("after a new message: %+v", got)
	}
}
