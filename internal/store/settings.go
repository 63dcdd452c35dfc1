package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// The names of the settings that the store keeps for itself.
const (
	settingOwnerPN  = "store.owner.pn"
	settingOwnerLID = "store.owner.lid"
	settingStatus   = "store.status"
	settingLastSeq  = "store.last_seq" // when it was removed
	settingPruned   = "store.events_pruned"
	settingIndex    = "store.search_index"
	settingMerges   = "store.chat_merges" // how many there were
)

// Setting returns a small value, empty when it was never set.
func (s *Store) Setting(ctx context.Context, name string) (string, error) {
	var value string
	err := s.read(ctx, func(r *readTx) (err error) {
		value, err = readSetting(ctx, r.conn, name)
		return err
	})
	return value, err
}

// SetSetting keeps a small value.
func (s *Store) SetSetting(ctx context.Context, name, value string) error {
	return s.write(ctx, func(ctx context.Context, t *writeTx) error { return t.setSetting(ctx, name, value) })
}

func readSetting(ctx context.Context, q *conn, name string) (string, error) {
	var value string
	err := q.scan(ctx, "SELECT value FROM settings WHERE name = ?", []any{name}, &value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the setting %s: %w", name, err)
	}
	return value, nil
}

func (t *writeTx) setting(ctx context.Context, name string) (string, error) {
	return readSetting(ctx, t.conn, name)
}

func (t *writeTx) setSetting(ctx context.Context, name, value string) error {
	return t.run(ctx, `
		INSERT INTO settings (name, value) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value`, name, value)
}

// OwnerOf returns whose account the store holds, and reports whether that is known yet.
func (s *Store) OwnerOf(ctx context.Context) (bridge.Owner, bool, error) {
	var owner bridge.Owner
	var known bool
	err := s.read(ctx, func(r *readTx) (err error) {
		owner, known, err = readOwner(ctx, r.conn)
		return err
	})
	return owner, known, err
}

func readOwner(ctx context.Context, q *conn) (bridge.Owner, bool, error) {
	pn, err := readSetting(ctx, q, settingOwnerPN)
	if err != nil {
		return bridge.Owner{}, false, err
	}
	lid, err := readSetting(ctx, q, settingOwnerLID)
	return bridge.Owner{PN: bridge.JID(pn), LID: bridge.JID(lid)}, pn != "" || lid != "", err
}

// saveOwner binds the store to its account for good. The LID may be learned
// later, and may change.
func (t *writeTx) saveOwner(ctx context.Context, f bridge.Owner) error {
	stored, known, err := readOwner(ctx, t.conn)
	if err != nil {
		return err
	}
	if known && !stored.SameAccount(f) {
		return bridge.Fail(bridge.CodeOtherAccount,
			"this store holds the messages of another account (%s): pair that account again, "+
				"or choose another data directory", stored.PN.Redacted())
	}
	if err := t.saveOwnerSetting(ctx, settingOwnerPN, f.PN); err != nil {
		return err
	}
	if err := t.saveOwnerSetting(ctx, settingOwnerLID, f.LID); err != nil {
		return err
	}
	if err := t.saveIdentity(ctx, bridge.Identity(f)); err != nil {
		return err
	}
	me, err := t.ensurePerson(ctx, cmp.Or(f.PN, f.LID))
	if err != nil {
		return err
	}
	t.people.owner = me.id
	return t.updatePrivateChat(ctx, me)
}

func (t *writeTx) saveOwnerSetting(ctx context.Context, name string, jid bridge.JID) error {
	if jid == "" {
		return nil
	}
	return t.setSetting(ctx, name, string(jid))
}

// readNumber returns the setting as a number, 0 when it was never set.
func readNumber(ctx context.Context, q *conn, name string) (int64, error) {
	value, err := readSetting(ctx, q, name)
	if err != nil || value == "" {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
}
