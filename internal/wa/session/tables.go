package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// retainedTables outlast a session: the version of the schema, and the map of numbers and LIDs.
var retainedTables = []string{"whatsmeow_version", "whatsmeow_lid_map"}

// tablesOf lists whatsmeow's tables.
func tablesOf(ctx context.Context, tx *sql.Tx) (tables []string, err error) {
	var table string
	err = eachRow(ctx, tx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'whatsmeow\_%' ESCAPE '\'`, nil, func() {
		tables = append(tables, table)
	}, &table)
	return tables, err
}

// eachRow calls f for each row of a query, after scanning the columns into into.
func eachRow(ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args []any, f func(), into ...any,
) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		f()
	}
	return rows.Err()
}

// secretsAtOnce limits one statement, because messages wait for it.
const secretsAtOnce = 2000

// DeleteSecrets deletes all message secrets except the newest retained ones (by rowid), and
// returns the number of deleted ones. whatsmeow deletes none.
func (db *DB) DeleteSecrets(ctx context.Context, retained int64) (total int64, err error) {
	for {
		result, err := db.sql.ExecContext(ctx, `
			DELETE FROM whatsmeow_message_secrets WHERE rowid IN
				(SELECT rowid FROM whatsmeow_message_secrets
				WHERE rowid <= (SELECT max(rowid) FROM whatsmeow_message_secrets) - ? ORDER BY rowid LIMIT ?)`, retained, secretsAtOnce)
		if err != nil {
			return total, Explain(err)
		}
		n, err := result.RowsAffected()
		if total += n; err != nil || n < secretsAtOnce {
			return total, err
		}
	}
}

// clearContent clears the decrypted content of stanzas that were received before a time, and
// returns how many had any.
func (db *DB) clearContent(ctx context.Context, before time.Time) (int64, error) {
	result, err := db.sql.ExecContext(ctx, `
		UPDATE whatsmeow_event_buffer SET plaintext = NULL
		WHERE plaintext IS NOT NULL AND insert_timestamp < ?`, before.UnixMilli())
	if err != nil {
		return 0, Explain(err)
	}
	return result.RowsAffected()
}

// LoadIdentities makes whatsmeow load its map of numbers and LIDs into memory.
func (db *DB) LoadIdentities(ctx context.Context) error {
	if err := db.lids.present.Load().FillCache(ctx); err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	return nil
}

// LIDOf returns the LID of a number, or "" if it is not known.
func (db *DB) LIDOf(ctx context.Context, pn bridge.JID) (bridge.JID, error) {
	lid, err := db.lids.GetLIDForPN(ctx, convert.WireJID(pn))
	return convert.JID(lid), err
}

// Identities returns the map of numbers and LIDs.
func (db *DB) Identities(ctx context.Context) (facts []bridge.Fact, err error) {
	var lid, pn string
	err = eachRow(ctx, db.sql, `SELECT lid, pn FROM whatsmeow_lid_map`, nil, func() {
		facts = append(facts, bridge.Identity{PN: bridge.PhoneJID(pn), LID: bridge.JID(lid + "@" + bridge.ServerLID)})
	}, &lid, &pn)
	return facts, err
}

// knownIdentities returns a function that reads the stored identities of addresses.
func (db *DB) knownIdentities(device types.JID) func(context.Context, []string) (map[string][32]byte, error) {
	return func(ctx context.Context, addresses []string) (map[string][32]byte, error) {
		identities := make(map[string][32]byte, len(addresses))
		var address string
		var key []byte
		err := db.ofAddresses(ctx, `
			SELECT their_id, identity FROM whatsmeow_identity_keys
			WHERE our_jid = ? AND their_id IN (SELECT value FROM json_each(?))`, device, addresses, func() {
			if len(key) == 32 {
				identities[address] = [32]byte(key)
			}
		}, &address, &key)
		return identities, err
	}
}

// withoutSession returns the addresses without a session.
func (db *DB) withoutSession(ctx context.Context, device types.JID, addresses []string) (map[string]bool, error) {
	missing := make(map[string]bool)
	var address string
	err := db.ofAddresses(ctx, `
		SELECT value FROM json_each(?2) WHERE NOT EXISTS
			(SELECT 1 FROM whatsmeow_sessions WHERE our_jid = ?1 AND their_id = value)`, device, addresses, func() { missing[address] = true }, &address)
	return missing, err
}

// ofAddresses calls f for each row of a query about addresses of a device.
func (db *DB) ofAddresses(ctx context.Context, query string, device types.JID, addresses []string, f func(), into ...any) error {
	list, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	return Explain(eachRow(ctx, db.sql, query, []any{device.String(), string(list)}, f, into...))
}

// ChatSettings returns the chat settings that the account's devices share.
func (db *DB) ChatSettings(ctx context.Context) (facts []bridge.Fact, err error) {
	var jid string
	var muted int64 // seconds
	var pinned, archived bool
	err = eachRow(ctx, db.sql, `SELECT chat_jid, muted_until, pinned, archived FROM whatsmeow_chat_settings`, nil, func() {
		if chat := convert.ParseJID(jid); chat != "" {
			facts = append(facts, bridge.ChatSettings{
				Chat: chat, Archived: new(archived), Pinned: new(pinned), MutedUntil: new(convert.MutedUntil(muted != 0, muted)),
			})
		}
	}, &jid, &muted, &pinned, &archived)
	return facts, err
}
