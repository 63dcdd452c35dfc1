package wa_test

import (
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// removes removes the friend from the phone's address book.
func (b *addressBook) removes() {
	b.t.Helper()
	if err := b.phone.RemoveContact(testContext(b.t), b.friend.Number()); err != nil {
		b.t.Fatal(err)
	}
}

// isUnnamed waits until a person is not in the address book any more.
func (a *account) isUnnamed(jid bridge.JID) {
	a.t.Helper()
	eventually(a.t, "a contact without a name", func() bool {
		contact, err := a.store.Contact(testContext(a.t), jid)
		return err == nil && contact.Name == "" && !contact.IsSaved
	})
}

// TestRemovedName_IsRemovedHere with the events of other changes, and can be saved again.
func TestRemovedName_IsRemovedHere(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	b := newAddressBook(t)
	last, err := b.store.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.removes()
	b.isUnnamed(jidOf(b.friend))
	b.named("Sam") // as the friend calls himself
	page, err := b.store.Events(ctx, store.EventQuery{After: last, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventChatUpdated}}})
	if err != nil || len(page.Events) != 1 {
		t.Errorf("events %+v, %v", page.Events, err)
	}
	b.name("Sam Again")
	b.named("Sam Again")
}

// TestRemovedName_OfAPersonWithoutANumber leaves the username.
func TestRemovedName_OfAPersonWithoutANumber(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	b := newAddressBook(t)
	lid := types.NewJID("100000000000001", types.HiddenUserServer)
	if err := b.phone.SetLIDContact(ctx, lid, "Dora Dee", "dora"); err != nil {
		t.Fatal(err)
	}
	jid := bridge.JID(lid.String())
	eventually(t, "the phone's name", func() bool {
		contact, err := b.store.Contact(ctx, jid)
		return err == nil && contact.Name == "Dora Dee"
	})
	if err := b.phone.RemoveLIDContact(ctx, lid); err != nil {
		t.Fatal(err)
	}
	b.isUnnamed(jid)
	if contact, err := b.store.Contact(ctx, jid); err != nil || contact.Username == nil || *contact.Username != "dora" {
		t.Errorf("stored %+v, %v", contact, err)
	}
	b.named("Sam One")
}

// TestRemovedName_WhileTheBridgeWasOff: also if the name was changed before, so that the bridge
// receives both changes at once.
func TestRemovedName_WhileTheBridgeWasOff(t *testing.T) {
	t.Parallel()
	b := newAddressBook(t)
	b.stop()
	b.name("Sam Two")
	b.removes()
	again := startAccount(t, b.network, b.dir)
	again.waitState(bridge.StateOpen)
	again.isUnnamed(jidOf(b.friend))
	again.stop()
	third := startAccount(t, b.network, b.dir) // the session does not bring it back
	third.phone = b.phone
	third.waitState(bridge.StateOpen)
	third.saves(jidOf(newPhone(t, b.network, "15550100302", "Kim")), bridge.ContactName{Full: "Kim Known", First: "Kim"}) // after the login's names
	third.isUnnamed(jidOf(b.friend))
}

// TestRemovedName_InAFullSync: the removal itself was damaged on its way.
func TestRemovedName_InAFullSync(t *testing.T) {
	t.Parallel()
	b := newAddressBook(t)
	b.phone.SpoilAppState(contacts, 1)
	b.removes()
	b.isUnnamed(jidOf(b.friend))
}

// TestRemovedName_LeavesWhatTheBridgeSaves: the phone removes names while the bridge saves the same
// and others.
func TestRemovedName_LeavesWhatTheBridgeSaves(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	b := newAddressBook(t)
	var others []*simnet.Phone
	for i := range 3 {
		others = append(others, newPhone(t, b.network, fmt.Sprintf("1555010031%d", i), "Kim"))
	}
	for i := range 4 {
		b.name(fmt.Sprintf("Sam %d", i))
		b.removes()
		b.saves(jidOf(b.friend), bridge.ContactName{Full: fmt.Sprintf("Bridge %d", i), First: "B"})
		removed := make(chan error, 1)
		go func() { removed <- b.phone.RemoveContact(ctx, others[0].Number()) }()
		for _, other := range others[1:] {
			b.saves(jidOf(other), bridge.ContactName{Full: fmt.Sprintf("Other %d", i), First: "O"})
		}
		if err := <-removed; err != nil {
			t.Fatal(err)
		}
		if err := b.phone.SetContact(ctx, others[0].Number(), "Sentinel", "S"); err != nil {
			t.Fatal(err)
		}
		b.isNamed(jidOf(others[0]), "Sentinel")
		if err := b.phone.RemoveContact(ctx, others[0].Number()); err != nil {
			t.Fatal(err)
		}
		b.isUnnamed(jidOf(others[0])) // the address book has been read after all changes
		b.isNamed(jidOf(b.friend), fmt.Sprintf("Bridge %d", i))
		for _, other := range others[1:] {
			b.isNamed(jidOf(other), fmt.Sprintf("Other %d", i))
		}
	}
}

// isNamed waits until a person has a name.
func (a *account) isNamed(jid bridge.JID, name string) {
	a.t.Helper()
	eventually(a.t, "the name "+name, func() bool {
		contact, err := a.store.Contact(testContext(a.t), jid)
		return err == nil && contact.Name == name
	})
}
