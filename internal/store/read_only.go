package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"bridged/internal/bridge"
)

// chatSet returns the ids of those chats that are stored, by any of their names.
func (r *readTx) chatSet(ctx context.Context, jids []bridge.JID) (map[int64]bool, error) {
	if jids == nil {
		return nil, nil
	}
	names := make([]bridge.JID, 0, 3*len(jids))
	for _, jid := range jids {
		names = append(names, jid, r.s.Canonical(jid), r.s.LIDOf(jid))
	}
	wanted, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	ids := make(map[int64]bool, len(jids))
	err = r.each(ctx, "SELECT c.id FROM json_each(?) wanted CROSS JOIN chats c ON c.jid = wanted.value",
		[]any{string(wanted)}, func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			ids[id] = true
			return err
		})
	return ids, err
}

// chatIDs returns the same as an argument of json_each.
func (r *readTx) chatIDs(ctx context.Context, jids []bridge.JID) (string, error) {
	set, err := r.chatSet(ctx, jids)
	if err != nil {
		return "", err
	}
	ids := make([]int64, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	list, err := json.Marshal(ids)
	return string(list), err
}
