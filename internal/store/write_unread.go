package store

import (
	"bridged/internal/bridge"
)

// saveChatRead notes that the account has read a chat on one of its devices.
func (t *writeTx) saveChatRead(f bridge.ChatRead) {
	c, found := t.findChat(f.Chat)
	if !found {
		return
	}
	seq, told := f.Arrival, true
	switch {
	case seq > 0:
	case len(f.IDs) > 0:
		seq = t.lastOf(f)
	default:
		// Receipts come beside it, and say more exactly what was told.
		told = false
		seq = t.lastUntil(c.id, f.Until.UnixMilli())
	}
	if seq == 0 {
		return
	}
	if told {
		t.Run("UPDATE chats SET receipt_seq = ? WHERE id = ? AND receipt_seq < ?", seq, c.id, seq)
	}
	changed := t.readUpTo(c.id, seq)
	if !changed {
		return
	}
	t.appendEvent(eventChatUpdated, 0, c.id)
}

// lastOf returns which of the messages that were read arrived last, 0 where
// none is stored.
func (t *writeTx) lastOf(f bridge.ChatRead) int64 {
	var last int64
	for _, id := range f.IDs {
		m, found := t.findMessage(f.Chat, id)
		if found {
			last = max(last, m.seq)
		}
	}
	return last
}

// lastUntil returns up to which arrival a chat is read whose messages were read
// up to a moment: where none is newer, all that there is.
func (t *writeTx) lastUntil(chat, moment int64) int64 {
	var newer, last int64
	found := t.Find("SELECT seq FROM messages WHERE chat = ? AND timestamp > ? LIMIT 1", []any{chat, moment}, &newer)
	if !found {
		return t.numbers.seq
	}
	t.Find(`
		SELECT seq FROM messages WHERE chat = ? AND timestamp <= ?
		ORDER BY timestamp DESC, seq DESC LIMIT 1`, []any{chat, moment}, &last)
	return last
}

// readUpTo notes that the account has read a chat up to an arrival, and reports
// whether the chat looks different now. What counts is the order of arrival: a
// message that comes late has not been read, whatever time it bears.
func (t *writeTx) readUpTo(chat, seq int64) bool {
	var unread, left int64
	var marked bool
	found := t.Find("SELECT unread, marked_unread FROM chats WHERE id = ? AND (read_seq < ? OR marked_unread)",
		[]any{chat, seq}, &unread, &marked)
	if !found {
		return false
	}
	t.Run("UPDATE chats SET read_seq = max(read_seq, ?), marked_unread = 0 WHERE id = ?", seq, chat)
	if unread == 0 {
		return marked
	}
	left = t.countUnread(chat)
	return marked || left != unread
}

// countUnread counts a chat's unread messages anew, among those that are not
// older than the oldest unread one was.
func (t *writeTx) countUnread(chat int64) (left int64) {
	t.Find(`
		UPDATE chats SET (unread, unread_since) = (
			SELECT count(*), ifnull(min(m.timestamp), 0) FROM messages m
			WHERE m.chat = chats.id AND m.timestamp >= chats.unread_since AND m.seq > chats.read_seq
				AND NOT m.from_me AND NOT m.imported)
		WHERE id = ? AND unread > 0 RETURNING unread`, []any{chat}, &left)
	return left
}

// uncountUnread takes a message of somebody else, which is gone, out of the
// unread ones, if it was one.
func (t *writeTx) uncountUnread(chat, seq int64) {
	t.Run("UPDATE chats SET unread = unread - 1 WHERE id = ? AND unread > 0 AND read_seq < ?", chat, seq)
}

// saveMarkedUnread notes a chat that somebody wants to come back to.
func (t *writeTx) saveMarkedUnread(f bridge.ChatMarkedUnread) {
	c, found := t.findChat(f.Chat)
	if !found {
		return
	}
	changed := t.Change("UPDATE chats SET marked_unread = 1 WHERE id = ? AND NOT marked_unread", c.id)
	if changed == 0 {
		return
	}
	t.appendEvent(eventChatUpdated, 0, c.id)
}
