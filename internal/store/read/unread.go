package read

import (
	"context"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

// UnreadPage limits the read receipts that are sent at a time.
const UnreadPage = 1000

// maxDelay is how long the network stores messages that it cannot deliver.
const maxDelay = 30 * 24 * time.Hour

// UnreadQuery selects the messages of other people in a chat for which no read receipt was sent.
// The time limits how much of a long chat it reads.
var UnreadQuery = fmt.Sprintf(`
	SELECT seq, id, sender, CASE WHEN id GLOB 'x-*' THEN (SELECT wire_id FROM message_raw r WHERE r.seq = messages.seq) END
	FROM messages
	WHERE chat = ?1 AND seq > ?2 AND seq <= ?3 AND timestamp >= ?4 AND NOT from_me AND NOT imported AND type != '%s'
	ORDER BY seq LIMIT %d`, bridge.TypeUndecryptable, UnreadPage)

// Unread returns the next messages of a chat for which no read receipt was sent, by seq: up to the
// message with an id, or up to the last one if upTo is empty. It leaves placeholders out.
func (s *Reader) Unread(ctx context.Context, chat bridge.JID, upTo string) (bridge.UnreadPage, error) {
	return As(ctx, s, "read the unread messages", func(r *Snapshot) bridge.UnreadPage { return r.unread(r.FindChat(chat), upTo) })
}

func (r *Snapshot) unread(chat int64, upTo string) (page bridge.UnreadPage) {
	var receipt, since int64
	if upTo == "" {
		r.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &page.UpTo)
	} else if !r.Find("SELECT seq FROM messages WHERE chat = ? AND id = ?", []any{chat, upTo}, &page.UpTo) {
		r.Fail(bridge.NotFound("there is no message %s of this chat in the store", upTo))
	}
	r.Find(`
		SELECT receipt_seq, ifnull((SELECT timestamp FROM messages WHERE seq <= receipt_seq ORDER BY seq DESC LIMIT 1), 0)
		FROM chats WHERE id = ?`, []any{chat}, &receipt, &since)
	for rows := range r.Rows(UnreadQuery, chat, receipt, page.UpTo, since-maxDelay.Milliseconds()) {
		var m bridge.UnreadMessage
		var sender int64
		var wire []byte
		rows.Scan(&m.Seq, &m.ID, &sender, &wire)
		m.WireID, m.SenderJID = string(wire), r.s.o.People.Get(sender).JID()
		page.Messages = append(page.Messages, m)
	}
	if page.More = len(page.Messages) == UnreadPage; page.More {
		page.UpTo = page.Messages[UnreadPage-1].Seq
	}
	return page
}
