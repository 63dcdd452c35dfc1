package session

import (
	"slices"
	"testing"

	"go.mau.fi/whatsmeow/appstate"
)

// TestQuirk_AMissingSyncKeyIsOnlyLogged: whatsmeow has an event for any
// other fault of the account's state.
func TestQuirk_AMissingSyncKeyIsOnlyLogged(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	c := newPlainClient(t)
	if err := c.phone.SetContact(ctx, c.friend.Number(), "Sam One", "Sam"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the first name", func() bool {
		contact, err := c.Store.Contacts.GetContact(ctx, c.friend.PN())
		return err == nil && contact.FullName == "Sam One"
	})
	c.phone.IgnoreRequests(true)
	if err := c.phone.ChangeSyncKey(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.phone.SetContact(ctx, c.friend.Number(), "Sam Two", "Sam"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the log's word of the missing key", func() bool {
		return slices.ContainsFunc(c.log.all(), func(line logLine) bool { return missesSyncKey(line.args) })
	})
}

// TestQuirk_RemovedEntriesAreOnlyReportedToTheStore: whatsmeow has no event for them and retains the
// name.
func TestQuirk_RemovedEntriesAreOnlyReportedToTheStore(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	c := newPlainClient(t)
	if err := c.phone.SetContact(ctx, c.friend.Number(), "Sam One", "Sam"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the name", func() bool {
		contact, err := c.Store.Contacts.GetContact(ctx, c.friend.PN())
		return err == nil && contact.FullName == "Sam One"
	})
	if err := c.phone.RemoveContact(ctx, c.friend.Number()); err != nil {
		t.Fatal(err)
	}
	if name := await(t, c.removed); name != appstate.WAPatchCriticalUnblockLow {
		t.Errorf("an entry of %s was removed", name)
	}
	if contact, err := c.Store.Contacts.GetContact(ctx, c.friend.PN()); err != nil || contact.FullName != "Sam One" {
		t.Errorf("the session has %+v, %v", contact, err)
	}
	if book, err := clientOf(c).AddressBook(ctx); err != nil || !book.IsKnown() || len(book.People) != 0 {
		t.Errorf("the address book is %+v, %v", book, err)
	}
}
