package wa_test

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// chatWith returns the stored chat with a person, or the zero value if there is
// none.
func (a *account) chatWith(p *simnet.Phone) bridge.Chat {
	a.t.Helper()
	c, err := a.store.Chat(testContext(a.t), jidOf(p))
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		a.t.Fatal(err)
	}
	return c
}

func (a *account) waitUnread(p *simnet.Phone, want int, after string) {
	a.t.Helper()
	eventually(a.t, after, func() bool { return a.chatWith(p).UnreadCount == want })
}

// TestChatState_FollowsTheAccountsOtherDevices: a person's actions in a chat on the
// phone show in its fields.
func TestChatState_FollowsTheAccountsOtherDevices(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	// receive makes the friend write and waits until phone and bridge have the
	// message.
	receive := func(text string) *simnet.Received {
		t.Helper()
		before := a.chatWith(friend).UnreadCount
		if _, err := friend.SendText(ctx, a.phone.PN(), text); err != nil {
			t.Fatal(err)
		}
		r, err := a.phone.ReceivedText(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		a.waitUnread(friend, before+1, "unread: "+text)
		return r
	}
	change := func(patch appstate.PatchInfo) {
		t.Helper()
		if err := a.phone.SendAppState(ctx, patch); err != nil {
			t.Fatal(err)
		}
	}

	one := receive("one")
	receive("two")
	if err := a.phone.MarkRead(ctx, one); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(friend, 1, "a read receipt of the phone")
	// A person without read receipts sends them only to the own devices.
	three := receive("three")
	err := a.phone.Client().MarkRead(ctx, []types.MessageID{three.Info.ID}, time.Now(), three.Info.Chat, three.Info.Sender, types.ReceiptTypeReadSelf)
	if err != nil {
		t.Fatal(err)
	}
	a.waitUnread(friend, 0, "a read receipt for the own devices")
	receive("four")
	if _, err := a.phone.SendText(ctx, friend.PN(), "an answer from the phone"); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(friend, 0, "an answer from the phone")
	receive("five")
	if _, err := a.send(jidOf(friend), "an answer from here"); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(friend, 0, "an answer from here")

	// The first change of a collection brings all of it, which whatsmeow reports
	// with a single event.
	change(appstate.BuildArchive(friend.PN(), true, time.Time{}, nil))
	eventually(t, "archived", func() bool { return a.chatWith(friend).Archived })
	change(appstate.BuildArchive(friend.PN(), false, time.Time{}, nil))
	eventually(t, "not archived", func() bool { return !a.chatWith(friend).Archived })
	change(appstate.BuildPin(friend.PN(), true))
	eventually(t, "pinned", func() bool { return a.chatWith(friend).Pinned })
	change(appstate.BuildMarkChatAsRead(friend.PN(), false, time.Time{}, nil))
	a.waitUnread(friend, 1, "marked as unread")
	change(appstate.BuildMarkChatAsRead(friend.PN(), true, time.Now(), nil))
	a.waitUnread(friend, 0, "marked as read")
	change(appstate.BuildMute(friend.PN(), true, 0))
	eventually(t, "muted", func() bool {
		until := a.chatWith(friend).MutedUntil
		return until != nil && until.Equal(bridge.MutedForever().Time)
	})
	change(appstate.BuildMute(friend.PN(), true, time.Hour))
	eventually(t, "muted for an hour", func() bool {
		until := a.chatWith(friend).MutedUntil
		return until != nil && until.Before(time.Now().Add(2*time.Hour))
	})
	change(appstate.BuildMute(friend.PN(), false, 0))
	eventually(t, "not muted", func() bool { return a.chatWith(friend).MutedUntil == nil })
}

// TestChatState_IsCaughtUpWith: a change that could not be stored when it came is
// applied after the next login.
func TestChatState_IsCaughtUpWith(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := friend.SendText(ctx, a.phone.PN(), "hello"); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(friend, 1, "the message")
	change := func(patch appstate.PatchInfo) {
		t.Helper()
		if err := a.phone.SendAppState(ctx, patch); err != nil {
			t.Fatal(err)
		}
	}
	change(appstate.BuildPin(friend.PN(), true))
	eventually(t, "pinned", func() bool { return a.chatWith(friend).Pinned })
	a.fault.Set(bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full"))
	change(appstate.BuildPin(friend.PN(), false))
	eventually(t, "the change was refused", func() bool { return a.manager.Status().LastError != nil })
	a.fault.Set(nil)
	eventually(t, "not pinned", func() bool { return !a.chatWith(friend).Pinned })
}

// TestChatState_MarksOfAWholeSync: the first change of a collection brings all of
// it; its marks as read and unread count as single changes do.
func TestChatState_MarksOfAWholeSync(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	read, unread := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	for _, friend := range []*simnet.Phone{read, unread} {
		if _, err := friend.SendText(ctx, a.phone.PN(), "hello"); err != nil {
			t.Fatal(err)
		}
		a.waitUnread(friend, 1, "the message")
	}
	marks := appstate.BuildMarkChatAsRead(read.PN(), true, time.Now(), nil)
	marks.Mutations = append(marks.Mutations, appstate.BuildPin(read.PN(), true).Mutations...)
	if err := a.phone.SendAppState(ctx, marks); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(read, 0, "marked as read in a whole sync")
	eventually(t, "pinned", func() bool { return a.chatWith(read).Pinned })
	if got := a.chatWith(unread).UnreadCount; got != 1 {
		t.Errorf("%d unread in a chat that was not marked", got)
	}
	// whatsmeow's state of the collection is unchanged: single changes go on.
	if err := a.phone.SendAppState(ctx, appstate.BuildMarkChatAsRead(unread.PN(), true, time.Now(), nil)); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(unread, 0, "marked as read by a single change")
	if err := a.phone.SendAppState(ctx, appstate.BuildMarkChatAsRead(read.PN(), false, time.Time{}, nil)); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(read, 1, "marked as unread by a single change")
}
