package store

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

// unreadPage is how many messages are told of at a time.
const unreadPage = 1000

// latest is how much older than what came before it a message can be that comes: the
// network keeps none for longer.
const latest = 30 * 24 * time.Hour

// unreadQuery selects the messages of others in a chat whose authors have not been told
// that the account has read them. The time bounds what is looked at of a long chat.
var unreadQuery = fmt.Sprintf(`
	SELECT seq, id, sender, CASE WHEN id GLOB 'x-*' THEN (SELECT wire_id FROM message_raw r WHERE r.seq = messages.seq) END
	FROM messages
	WHERE chat = ?1 AND seq > ?2 AND seq <= ?3 AND timestamp >= ?4 AND NOT from_me AND NOT imported AND type != '%s'
	ORDER BY seq LIMIT %d`, bridge.TypeUndecryptable, unreadPage)

// Unread returns the next messages of a chat, in the order of arrival, whose authors have not been
// told that the account has read them, up to the message with an id; an empty id
// is up to the last that came. What cannot be read yet is left out.
func (s *Store) Unread(ctx context.Context, chat bridge.JID, upTo string) (page bridge.UnreadPage, err error) {
	err = s.read(ctx, func(r *readTx) {
		id := r.findChat(chat)
		page = r.unread(id, upTo)
	})
	if err != nil {
		return bridge.UnreadPage{}, fmt.Errorf("read what is unread: %w", err)
	}
	return page, nil
}

func (r *readTx) unread(chat int64, upTo string) (page bridge.UnreadPage) {
	var told, since int64
	if upTo == "" {
		r.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &page.UpTo)
	} else {
		r.Find("SELECT seq FROM messages WHERE chat = ? AND id = ?", []any{chat, upTo}, &page.UpTo)
	}
	r.Find(`
		SELECT receipt_seq, ifnull((SELECT timestamp FROM messages WHERE seq <= receipt_seq ORDER BY seq DESC LIMIT 1), 0)
		FROM chats WHERE id = ?`, []any{chat}, &told, &since)
	for rows := range r.Rows(unreadQuery, chat, told, page.UpTo, since-latest.Milliseconds()) {
		var m bridge.UnreadMessage
		var sender int64
		var wire []byte
		rows.Scan(&m.Arrival, &m.ID, &sender, &wire)
		m.WireID, m.SenderJID = string(wire), r.s.people.get(sender).jid()
		page.Messages = append(page.Messages, m)
	}
	if page.More = len(page.Messages) == unreadPage; page.More {
		page.UpTo = page.Messages[unreadPage-1].Arrival
	}
	return page
}
