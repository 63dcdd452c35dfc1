package wa_test

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// isBlocked reports whether the store has a person as blocked.
func (a *account) isBlocked(p *simnet.Phone) bool {
	a.t.Helper()
	contact, err := a.store.Contact(testContext(a.t), jidOf(p))
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		a.t.Fatal(err)
	}
	return contact.IsBlocked
}

// TestBlock_HoldsOnTheNetwork: what a blocked person writes does not come, and they do not
// learn of it.
func TestBlock_HoldsOnTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	a.receive(friend, a.phone.PN(), jidOf(friend), "hello")
	if err := a.manager.Block(ctx, jidOf(friend), true); err != nil {
		t.Fatal(err)
	}
	if !a.phone.Blocks(friend.Account) || !a.isBlocked(friend) {
		t.Errorf("blocked at the network: %v, stored: %v", a.phone.Blocks(friend.Account), a.isBlocked(friend))
	}
	if _, err := friend.SendText(ctx, a.phone.PN(), "nobody reads this"); err != nil {
		t.Fatal(err)
	}
	a.receive(other, a.phone.PN(), jidOf(other), "later than the other")
	if got := a.chatWith(friend).LastMessage.Content; got != "hello" {
		t.Errorf("stored %q of a blocked person", got)
	}
	if err := a.manager.Block(ctx, jidOf(friend), false); err != nil {
		t.Fatal(err)
	}
	if a.phone.Blocks(friend.Account) || a.isBlocked(friend) {
		t.Error("still blocked")
	}
	a.receive(friend, a.phone.PN(), jidOf(friend), "read again")

	a.device().FailQueries(simnet.IQFault{Namespace: "blocklist", LoseAnswer: true, HangUp: true, Times: 1})
	if err := a.manager.Block(ctx, jidOf(friend), true); err != nil || !a.isBlocked(friend) {
		t.Errorf("after a lost answer: %v, stored %v", err, a.isBlocked(friend))
	}
	a.device().FailQueries(simnet.IQFault{Namespace: "blocklist", Code: 429, Text: "rate-overlimit", Times: 1})
	if err := a.manager.Block(ctx, jidOf(friend), false); bridge.CodeOf(err) != bridge.CodeRateLimited || !a.isBlocked(friend) {
		t.Errorf("refused: %v, stored %v", err, a.isBlocked(friend))
	}
}

// TestBlock_FollowsTheOtherDevices: by what the list has at the login, by notifications,
// and by those that do not say what has changed.
func TestBlock_FollowsTheOtherDevices(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	first, second, third := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim"), newPhone(t, network, "15550100303", "Robin")
	block := func(p *simnet.Phone, block bool) {
		t.Helper()
		if err := a.phone.Block(ctx, p.PN(), block); err != nil {
			t.Fatal(err)
		}
	}
	block(first, true)
	a.pair()
	eventually(t, "blocked before the pairing", func() bool { return a.isBlockedLID(first) })
	block(second, true)
	eventually(t, "blocked by the phone", func() bool { return a.isBlockedLID(second) })
	a.phone.HideBlocks()
	block(third, true)
	block(first, false)
	eventually(t, "changes that are not named", func() bool { return a.isBlockedLID(third) && !a.isBlockedLID(first) })
	if queries := a.device().Queries("blocklist"); queries > 3 {
		t.Errorf("%d queries, want one after the pairing and one for each unnamed change", queries)
	}
}

// isBlockedLID is isBlocked for a person whose number may not be known.
func (a *account) isBlockedLID(p *simnet.Phone) bool {
	a.t.Helper()
	contact, err := a.store.Contact(testContext(a.t), bridge.JID(p.LID().String()))
	return err == nil && contact.IsBlocked
}
