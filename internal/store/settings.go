package store

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// The names of the settings that the store keeps for itself.
const (
	settingOwnerPN  = "store.owner.pn"
	settingOwnerLID = "store.owner.lid"
	settingStatus   = "store.status"
	settingLastSeq  = "store.last_seq" // of the messages that were removed
	settingPruned   = "store.events_pruned"
	settingMerges   = "store.chat_merges" // how many there were
)

// Setting returns a small value, empty when it was never set.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	return readAs(ctx, s, "read the setting "+name, func(r *readTx) string { return readSetting(r.Conn, name) })
}

// SetSetting keeps a small value.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	return s.write(ctx, func(t *writeTx) { t.setSetting(name, value) })
}

func readSetting(c *sqlite.Conn, name string) (value string) {
	c.Find("SELECT value FROM settings WHERE name = ?", []any{name}, &value)
	return value
}

// readNumber returns the setting as a number, 0 when it was never set.
func readNumber(c *sqlite.Conn, name string) (number int64) {
	c.Find("SELECT CAST(value AS INTEGER) FROM settings WHERE name = ?", []any{name}, &number)
	return number
}

func (t *writeTx) setSetting(name, value string) {
	t.Run(`
		INSERT INTO settings (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value`, name, value)
}

// OwnerOf returns whose account the store holds, and reports whether that is known yet.
func (s *Store) OwnerOf(ctx context.Context) (owner bridge.Owner, known bool, err error) {
	err = s.read(ctx, func(r *readTx) { owner, known = readOwner(r.Conn) })
	return owner, known, err
}

func readOwner(c *sqlite.Conn) (bridge.Owner, bool) {
	owner := bridge.Owner{PN: bridge.JID(readSetting(c, settingOwnerPN)), LID: bridge.JID(readSetting(c, settingOwnerLID))}
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
	t.setSetting(settingOwnerPN, string(cmp.Or(f.PN, stored.PN)))
	t.setSetting(settingOwnerLID, string(cmp.Or(f.LID, stored.LID)))
	t.saveIdentity(bridge.Identity(f))
	me := t.ensurePerson(cmp.Or(f.PN, f.LID))
	t.people.change(func() { t.people.owner = me.id })
	t.updateChats(me)
}
