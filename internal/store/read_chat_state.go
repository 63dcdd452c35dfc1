package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"bridged/internal/bridge"
)

// lastMessagesQuery looks the newest message of each chat up in the index that
// histories are read by, so that there is nothing to keep up to date. Of a long
// text it reads as much as is shown, and what tells where to cut it.
var lastMessagesQuery = fmt.Sprintf(`
	SELECT m.chat, m.id, m.from_me, m.sender, m.push_name, m.type, substr(m.content, 1, %d), m.timestamp
	FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = (
		SELECT seq FROM messages WHERE chat = wanted.value ORDER BY timestamp DESC, seq DESC LIMIT 1)`,
	bridge.MaxPreview+32)

// addLastMessages fills the last message of chats, whose ids are in the same
// order.
func (r *readTx) addLastMessages(ctx context.Context, chats []bridge.Chat, ids []int64) error {
	byID := make(map[int64]*bridge.Chat, len(chats))
	wanted := make([]int64, 0, len(chats))
	for i := range chats {
		if chats[i].LastMessageAt != nil {
			byID[ids[i]] = &chats[i]
			wanted = append(wanted, ids[i])
		}
	}
	return r.eachOf(ctx, lastMessagesQuery, wanted, func(rows *resultSet) error {
		var m bridge.LastMessage
		var chat, sender, timestamp int64
		err := rows.Scan(&chat, &m.ID, &m.FromMe, &sender, &m.PushName, &m.MessageType, &m.Content, &timestamp)
		p := r.s.people.get(sender)
		m.SenderJID, m.PushName, m.Timestamp = p.jid(), cmp.Or(m.PushName, p.pushName()), bridge.Millis(timestamp)
		m.Bound()
		if c := byID[chat]; c != nil {
			c.LastMessage = &m
		}
		return err
	})
}

// mutedUntil returns until when a chat is muted, nil where that is over.
func (s *Store) mutedUntil(column sql.NullInt64) *bridge.Time {
	if !column.Valid || column.Int64 <= s.now() {
		return nil
	}
	return timeOf(column)
}
