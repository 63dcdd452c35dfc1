package wa_test

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// updateChat changes how a stored chat is kept.
func (a *account) updateChat(jid bridge.JID, patch bridge.ChatPatch) error {
	a.t.Helper()
	chat, err := a.store.Chat(testContext(a.t), jid)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.manager.UpdateChat(testContext(a.t), chat, patch)
}

// shownChat returns how the account's phone shows a chat.
func (a *account) shownChat(jid types.JID) simnet.ChatState {
	a.t.Helper()
	state, err := a.phone.ChatState(testContext(a.t), jid)
	if err != nil {
		a.t.Fatal(err)
	}
	return state
}

// chatUpdates counts the events of a chat's changes.
func (a *account) chatUpdates(jid bridge.JID) (n int) {
	a.t.Helper()
	page, err := a.store.Events(testContext(a.t), store.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventChatUpdated}}, Limit: 1000})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range page.Events {
		if e.ChatJID == jid {
			n++
		}
	}
	return n
}

// TestUpdateChat_ShowsOnThePhone: what the bridge changes of a person's chat and of a
// group shows on the phone and in the store, each change with one event.
func TestUpdateChat_ShowsOnThePhone(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, club := a.group(friend, false, a.phone)
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	a.receive(friend, group.JID(), club, "hello all")
	yes, no := new(true), new(false)
	hour := bridge.At(time.Now().Add(time.Hour).Truncate(time.Second))
	for _, chat := range []struct {
		jid  bridge.JID
		wire types.JID
	}{{jidOf(friend), friend.PN()}, {club, group.JID()}} {
		a.markRead(chat.jid, "")
		for _, step := range []struct {
			name     string
			settings int // that change
			patch    bridge.ChatPatch
			want     simnet.ChatState
		}{
			{"pinned", 1, bridge.ChatPatch{Pinned: yes}, simnet.ChatState{Pinned: true}},
			{"marked as unread", 1, bridge.ChatPatch{Unread: yes}, simnet.ChatState{Pinned: true, Unread: true}},
			{"muted", 1, bridge.ChatPatch{MutedUntil: new(bridge.MutedForever())}, simnet.ChatState{Pinned: true, Unread: true, Muted: true}},
			{"muted for an hour", 1, bridge.ChatPatch{MutedUntil: &hour}, simnet.ChatState{Pinned: true, Unread: true, Muted: true, MutedUntil: hour.Local()}},
			{"all taken back", 3, bridge.ChatPatch{Pinned: no, Unread: no, MutedUntil: new(bridge.Time{})}, simnet.ChatState{}},
			{"archived", 1, bridge.ChatPatch{Archived: yes}, simnet.ChatState{Archived: true}},
			{"pinned out of the archive", 2, bridge.ChatPatch{Pinned: yes}, simnet.ChatState{Pinned: true}},
			{"archived, without its pin", 2, bridge.ChatPatch{Archived: yes, Pinned: no}, simnet.ChatState{Archived: true}},
			{"taken out of the archive", 1, bridge.ChatPatch{Archived: no}, simnet.ChatState{}},
		} {
			before := a.chatUpdates(chat.jid)
			if err := a.updateChat(chat.jid, step.patch); err != nil {
				t.Fatal(step.name, err)
			}
			if got := a.shownChat(chat.wire); got != step.want {
				t.Errorf("%s: the phone shows %+v, want %+v", step.name, got, step.want)
			}
			if got := a.stateOf(chat.jid); got != step.want {
				t.Errorf("%s: stored %+v, want %+v", step.name, got, step.want)
			}
			if err := network.Settle(testContext(t)); err != nil {
				t.Fatal(err)
			}
			// The network reports each setting by itself, and may be faster than the store.
			if got := a.chatUpdates(chat.jid) - before; got < 1 || got > step.settings {
				t.Errorf("%s: %d events, want 1 to %d", step.name, got, step.settings)
			}
		}
	}
}

// stateOf returns how the store has a chat.
func (a *account) stateOf(jid bridge.JID) (state simnet.ChatState) {
	a.t.Helper()
	chat, err := a.store.Chat(testContext(a.t), jid)
	if err != nil {
		a.t.Fatal(err)
	}
	state.Archived, state.Pinned, state.Unread = chat.Archived, chat.Pinned, chat.UnreadCount > 0
	if until := chat.MutedUntil; until != nil {
		state.Muted = true
		if !until.Equal(bridge.MutedForever().Time) {
			state.MutedUntil = until.Local()
		}
	}
	return state
}

// TestUpdateChat_ReadsWithoutTicks: a chat that is marked as read this way is read on all
// devices, and its senders see nothing of it.
func TestUpdateChat_ReadsWithoutTicks(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	ids := a.receive(friend, a.phone.PN(), jidOf(friend), "one", "two")
	if err := a.updateChat(jidOf(friend), bridge.ChatPatch{Unread: new(false)}); err != nil {
		t.Fatal(err)
	}
	if got := a.unread(jidOf(friend)); got != 0 {
		t.Errorf("%d unread", got)
	}
	if a.shownChat(friend.PN()).Unread {
		t.Error("the phone shows the chat as unread")
	}
	if err := network.Settle(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := ticks(friend); len(got) != 0 {
		t.Errorf("ticks %v", got)
	}
	a.markRead(jidOf(friend), "") // the ticks are still to be had
	if _, err := friend.WaitReceipt(testContext(t), ids[1], types.ReceiptTypeRead); err != nil {
		t.Fatal(err)
	}
}

// TestUpdateChat_StoresWhatWasAccepted: a refused part changes nothing, and the error
// names what was changed before it; a lost answer is asked for again.
func TestUpdateChat_StoresWhatWasAccepted(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	a.device().FailQueries(simnet.IQFault{Within: "patch", Code: 400, Text: "bad-request", Times: 1})
	err := a.updateChat(jidOf(friend), bridge.ChatPatch{Pinned: new(true)})
	if bridge.CodeOf(err) != bridge.CodeSendRefused || a.chatWith(friend).Pinned || a.shownChat(friend.PN()).Pinned {
		t.Errorf("refused: %v, %+v", err, a.chatWith(friend))
	}
	a.device().FailQueries(simnet.IQFault{Within: "patch", LoseAnswer: true, HangUp: true, Times: 1})
	if err := a.updateChat(jidOf(friend), bridge.ChatPatch{Pinned: new(true)}); err != nil {
		t.Fatal(err)
	}
	if !a.chatWith(friend).Pinned || !a.shownChat(friend.PN()).Pinned {
		t.Errorf("after a lost answer: %+v", a.chatWith(friend))
	}
}

// TestUpdateChat_AfterTheOtherDevices: changes of the phone and of the bridge, at the same
// time, both hold.
func TestUpdateChat_AfterTheOtherDevices(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	for _, p := range []*simnet.Phone{friend, other} {
		a.receive(p, a.phone.PN(), jidOf(p), "hello")
	}
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 5 && err == nil; i++ {
			err = a.phone.SendAppState(testContext(t), appstate.BuildPin(other.LID(), i%2 == 0))
		}
		done <- err
	}()
	for i := range 5 {
		if err := a.updateChat(jidOf(friend), bridge.ChatPatch{Pinned: new(i%2 == 0)}); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !a.shownChat(friend.PN()).Pinned || !a.shownChat(other.PN()).Pinned || !a.chatWith(friend).Pinned {
		t.Errorf("the phone shows %+v and %+v, stored %+v", a.shownChat(friend.PN()), a.shownChat(other.PN()), a.chatWith(friend))
	}
	eventually(t, "the phone's change", func() bool { return a.chatWith(other).Pinned })
}
