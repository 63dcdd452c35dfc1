package session

import (
	"slices"
	"testing"
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
