package people

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/settings"
)

// The names of the settings with the owner's JIDs.
const (
	settingOwnerPN  = "store.owner.pn"
	settingOwnerLID = "store.owner.lid"
)

func ReadOwner(c *sqlite.Conn) (bridge.Owner, bool) {
	owner := bridge.Owner{PN: bridge.JID(settings.Get(c, settingOwnerPN)), LID: bridge.JID(settings.Get(c, settingOwnerLID))}
	return owner, owner != bridge.Owner{}
}

// SaveOwner binds the store to its account for good. The LID may come later, and change.
func (t *Tx) SaveOwner(f bridge.Owner) {
	stored, known := ReadOwner(t.Conn)
	if known && !stored.SameAccount(f) {
		t.Fail(bridge.Fail(bridge.CodeOtherAccount,
			"this store holds the messages of another account (%s): pair that account again, "+
				"or choose another data directory", stored.PN.Redacted()))
		return
	}
	settings.Set(t.Conn, settingOwnerPN, string(cmp.Or(f.PN, stored.PN)))
	settings.Set(t.Conn, settingOwnerLID, string(cmp.Or(f.LID, stored.LID)))
	t.SaveIdentity(bridge.Identity(f))
	me := t.EnsurePerson(cmp.Or(f.PN, f.LID))
	t.People.change(func() { t.People.owner = me.ID })
	t.PersonChanged(me)
}
