package store

import (
	"context"
	"encoding/json"

	"bridged/internal/bridge"
)

// chatSetQuery looks names up where this snapshot has them: what the program
// knows of people may be a transaction ahead, or behind.
const chatSetQuery = `
	SELECT c.id FROM json_each(?1) named CROSS JOIN chats c ON c.jid = named.value
	UNION ALL
	SELECT c.id FROM json_each(?1) named CROSS JOIN people p ON p.pn = named.value CROSS JOIN chats c ON c.person = p.id
	UNION ALL
	SELECT c.id FROM json_each(?1) named CROSS JOIN identities i ON i.lid = named.value CROSS JOIN chats c ON c.person = i.person`

// chatSet returns the ids of those chats that are stored, by any of their names.
func (r *readTx) chatSet(ctx context.Context, jids []bridge.JID) (map[int64]bool, error) {
	if jids == nil {
		return nil, nil
	}
	named, err := json.Marshal(jids)
	if err != nil {
		return nil, err
	}
	ids := make(map[int64]bool, len(jids))
	err = r.each(ctx, chatSetQuery, []any{string(named)}, func(rows *resultSet) error {
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
