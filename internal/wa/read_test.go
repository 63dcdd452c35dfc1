package wa_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// markRead marks a chat as read, up to a message or all of it.
func (a *account) markRead(jid bridge.JID, upTo string) {
	a.t.Helper()
	chat, err := a.store.Chat(testContext(a.t), jid)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.manager.MarkRead(testContext(a.t), chat, upTo); err != nil {
		a.t.Fatal(err)
	}
}

// ticks returns the ids in the read receipts that a phone has got so far, in order.
func ticks(p *simnet.Phone) (ids []string) {
	for _, event := range p.Events() {
		if r, ok := event.(*events.Receipt); ok && !r.IsFromMe && r.Type == types.ReceiptTypeRead {
			ids = append(ids, r.MessageIDs...)
		}
	}
	return ids
}

// readElsewhere waits until an account's phone knows that another device has read a
// message.
func readElsewhere(t *testing.T, p *simnet.Phone, id string, kind types.ReceiptType) {
	t.Helper()
	_, err := p.Event(testContext(t), func(event any) bool {
		r, ok := event.(*events.Receipt)
		return ok && r.IsFromMe && r.Type == kind && slices.Contains(r.MessageIDs, id)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// receive makes a phone write, and waits until the bridge has the messages.
func (a *account) receive(from *simnet.Phone, to types.JID, chat bridge.JID, texts ...string) (ids []string) {
	a.t.Helper()
	for _, text := range texts {
		id, err := from.SendText(testContext(a.t), to, text)
		if err != nil {
			a.t.Fatal(err)
		}
		eventually(a.t, text, func() bool { _, err := a.store.Message(testContext(a.t), chat, id); return err == nil })
		ids = append(ids, id)
	}
	return ids
}

func (a *account) unread(jid bridge.JID) int {
	a.t.Helper()
	chat, err := a.store.Chat(testContext(a.t), jid)
	if err != nil {
		a.t.Fatal(err)
	}
	return chat.UnreadCount
}

// TestMarkRead_ShowsTicks to the sender and to the account's phone, up to the
// message that was read, once.
func TestMarkRead_ShowsTicks(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	hidden, err := network.NewPhone(testContext(t), simnet.PhoneOptions{Number: "15550100303", Name: "Kim", LIDChats: true})
	if err != nil {
		t.Fatal(err)
	}
	hidden.WithholdMapping(true)
	for name, c := range map[string]struct {
		from *simnet.Phone
		to   types.JID
		chat bridge.JID
	}{
		"by number": {friend, a.phone.PN(), jidOf(friend)},
		"by LID":    {hidden, a.phone.LID(), bridge.JID(hidden.LID().String())},
	} {
		ids := a.receive(c.from, c.to, c.chat, "one", "two", "three")
		a.markRead(c.chat, ids[1])
		if got := a.unread(c.chat); got != 1 {
			t.Errorf("%s: %d unread behind the second of three", name, got)
		}
		// An answer marks the chat as read in the store, but sends no read
		// receipts.
		if _, err := a.send(c.chat, "an answer"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			a.markRead(c.chat, "")
		}
		if got := a.unread(c.chat); got != 0 {
			t.Errorf("%s: %d unread", name, got)
		}
		if _, err := c.from.WaitReceipt(testContext(t), ids[2], types.ReceiptTypeRead); err != nil {
			t.Fatal(name, err)
		}
		readElsewhere(t, a.phone, ids[2], types.ReceiptTypeRead)
		if err := network.Settle(testContext(t)); err != nil {
			t.Fatal(err)
		}
		if got := ticks(c.from); !slices.Equal(got, ids) {
			t.Errorf("%s: ticks %v, want each of %v once", name, got, ids)
		}
	}
}

// TestMarkRead_InGroups: each author gets receipts for their own messages.
func TestMarkRead_InGroups(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	for _, byNumber := range []bool{false, true} {
		g, chat := a.group(friend, byNumber, a.phone, other)
		one := a.receive(friend, g.JID(), chat, "one", "two")
		two := a.receive(other, g.JID(), chat, "three")
		three := a.receive(friend, g.JID(), chat, "four")
		a.markRead(chat, "")
		for p, ids := range map[*simnet.Phone][]string{friend: append(one, three...), other: two} {
			for _, id := range ids {
				r, err := p.WaitReceipt(testContext(t), id, types.ReceiptTypeRead)
				if err != nil {
					t.Fatal(err)
				}
				if r.Chat != g.JID() || !slices.Equal(r.MessageIDs, ids) {
					t.Errorf("a receipt in %s of %v, want one of %v", r.Chat, r.MessageIDs, ids)
				}
			}
		}
	}
}

// TestMarkRead_WithoutBlueTicks: with read receipts switched off, only the
// account's own devices get them, even if the setting was changed meanwhile.
func TestMarkRead_WithoutBlueTicks(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	seen := a.receive(friend, a.phone.PN(), jidOf(friend), "seen")
	a.markRead(jidOf(friend), "")
	if err := a.phone.SetReadReceipts(testContext(t), false); err != nil {
		t.Fatal(err)
	}
	if err := a.device().WaitQuiet(testContext(t)); err != nil {
		t.Fatal(err)
	}
	unseen := a.receive(friend, a.phone.PN(), jidOf(friend), "unseen")
	a.markRead(jidOf(friend), "")
	readElsewhere(t, a.phone, unseen[0], types.ReceiptTypeReadSelf)
	if got := a.unread(jidOf(friend)); got != 0 {
		t.Errorf("%d unread", got)
	}
	if err := network.Settle(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := ticks(friend); !slices.Equal(got, seen) {
		t.Errorf("ticks %v, want %v", got, seen)
	}
}

// TestMarkRead_AsksFirst whether others may see read receipts.
func TestMarkRead_AsksFirst(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	ids := a.receive(friend, a.phone.PN(), jidOf(friend), "one")
	a.device().FailQueries(simnet.IQFault{Namespace: "privacy", Tag: "privacy", Code: 500, Times: 2})
	err := a.manager.MarkRead(testContext(t), a.chatWith(friend), "")
	if bridge.CodeOf(err) != bridge.CodeNotConnected || a.unread(jidOf(friend)) != 1 {
		t.Errorf("got %v, %d unread", err, a.unread(jidOf(friend)))
	}
	a.markRead(jidOf(friend), "")
	if _, err := friend.WaitReceipt(testContext(t), ids[0], types.ReceiptTypeRead); err != nil {
		t.Fatal(err)
	}
}

// TestMarkRead_TakesBackThatAChatIsUnread on all devices.
func TestMarkRead_TakesBackThatAChatIsUnread(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.receive(friend, a.phone.PN(), jidOf(friend), "one")
	isRead := func(event any) bool {
		mark, ok := event.(*events.MarkChatAsRead)
		return ok && mark.Action.GetRead() && mark.JID == friend.LID()
	}
	a.markRead(jidOf(friend), "")
	if _, err := a.phone.Event(testContext(t), isRead); err != nil {
		t.Fatal(err)
	}
	a.phone.Forget() // only the second notification counts
	if err := a.phone.SendAppState(testContext(t), appstate.BuildMarkChatAsRead(friend.PN(), false, time.Time{}, nil)); err != nil {
		t.Fatal(err)
	}
	a.waitUnread(friend, 1, "marked as unread")
	a.markRead(jidOf(friend), "")
	a.waitUnread(friend, 0, "marked as read")
	if _, err := a.phone.Event(testContext(t), isRead); err != nil {
		t.Error(err)
	}
}

// TestMarkRead_Repeats receipts that were lost with the connection.
func TestMarkRead_Repeats(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	ids := a.receive(friend, a.phone.PN(), jidOf(friend), "one")
	a.device().Freeze()
	done := make(chan error, 1)
	chat := a.chatWith(friend)
	go func() { done <- a.manager.MarkRead(testContext(t), chat, "") }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := friend.WaitReceipt(testContext(t), ids[0], types.ReceiptTypeRead); err != nil {
		t.Fatal(err)
	}
}

// TestMarkRead_AtOnce sends each receipt once, and no call waits for a confirmation
// that another call got.
func TestMarkRead_AtOnce(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	want := a.receive(friend, a.phone.PN(), jidOf(friend), "one")
	chat := a.chatWith(friend)
	done := make(chan error)
	for range 5 {
		go func() { done <- a.manager.MarkRead(testContext(t), chat, "") }()
	}
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want = append(want, a.receive(friend, a.phone.PN(), jidOf(friend), "two")...)
	a.markRead(jidOf(friend), "")
	if _, err := friend.WaitReceipt(testContext(t), want[1], types.ReceiptTypeRead); err != nil {
		t.Fatal(err)
	}
	if got := ticks(friend); !slices.Equal(got, want) {
		t.Errorf("ticks %v, want each of %v once", got, want)
	}
}

// TestMarkRead_Many messages go in receipts of bounded size.
func TestMarkRead_Many(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	a.receive(friend, a.phone.PN(), jidOf(friend), "one")
	var facts []bridge.Fact
	first := a.messages(jidOf(friend))[0]
	for i := range 1100 {
		m := first
		m.Chat, m.ID = jidOf(friend), fmt.Sprintf("MANY%04d", i)
		facts = append(facts, m)
	}
	if err := a.store.Save(testContext(t), facts...); err != nil {
		t.Fatal(err)
	}
	a.markRead(jidOf(friend), "")
	if _, err := friend.WaitReceipt(testContext(t), "MANY1099", types.ReceiptTypeRead); err != nil {
		t.Fatal(err)
	}
	most, receipts := 0, 0
	for _, event := range friend.Events() {
		if r, ok := event.(*events.Receipt); ok && r.Type == types.ReceiptTypeRead {
			most, receipts = max(most, len(r.MessageIDs)), receipts+1
		}
	}
	if got := len(ticks(friend)); got != 1101 || most != 256 || receipts != 5 {
		t.Errorf("%d ticks in %d receipts of at most %d", got, receipts, most)
	}
}
