package store

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/settings"
)

// The names of the settings that the store keeps for itself.
const (
	settingOwnerPN  = "store.owner.pn"
	settingOwnerLID = "store.owner.lid"
	settingStatus   = "store.status"
	settingLastSeq  = "store.last_seq" // of the messages that were removed
)

// OwnerOf returns whose account the store holds, and reports whether that is known yet.
func (s *Store) OwnerOf(ctx context.Context) (owner bridge.Owner, known bool, err error) {
	err = s.read(ctx, func(r *readTx) { owner, known = readOwner(r.Conn) })
	return owner, known, err
}

func readOwner(c *sqlite.Conn) (bridge.Owner, bool) {
	owner := bridge.Owner{PN: bridge.JID(settings.Get(c, settingOwnerPN)), LID: bridge.JID(settings.Get(c, settingOwnerLID))}
	return owner, owner != bridge.Owner{}
}

// saveOwner binds the store to its account for good. The LID may come later, and change.
func (t *writeTx) saveOwner(f bridge.Owner) {
	stored, known := readOwner(t.Conn)
	if known && !stored.SameAccount(f) {
		t.Fail(bridge.Fail(bridge.CodeOtherAccount,
			"this store holds the messages of another account (%s): pair that account again, "+
				"or choose another data directory", stored.PN.Redacted()))
		return
	}
	settings.Set(t.Conn, settingOwnerPN, string(cmp.Or(f.PN, stored.PN)))
	settings.Set(t.Conn, settingOwnerLID, string(cmp.Or(f.LID, stored.LID)))
	t.saveIdentity(bridge.Identity(f))
	me := t.ensurePerson(cmp.Or(f.PN, f.LID))
	t.people.change(func() { t.people.owner = me.id })
	t.updateChats(me)
}
