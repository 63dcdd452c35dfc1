package store

import (
	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// saveChatRead notes that the account has read a chat on one of its devices.
func (t *writeTx) saveChatRead(f bridge.ChatRead) {
	c, found := t.findChat(f.Chat)
	if !found {
		return
	}
	seq := max(f.Seq, t.lastOf(f.Chat, f.IDs))
	if f.Seq == 0 && len(f.IDs) == 0 { // receipts come separately and are more exact
		seq = t.lastUntil(c.id, f.Until.UnixMilli())
		if last := t.lastOf(f.Chat, f.Last); last != 0 {
			seq = min(seq, last)
		}
	} else {
		t.Run("UPDATE chats SET receipt_seq = ? WHERE id = ? AND receipt_seq < ?", seq, c.id, seq)
	}
	if seq != 0 && t.readUpTo(c.id, seq) {
		t.appendEvent(bridge.EventChatUpdated, 0, c.id)
	}
}

// lastOf returns the highest seq of some messages, or 0 if none is stored.
func (t *writeTx) lastOf(chat bridge.JID, ids []string) (seq int64) {
	for _, id := range ids {
		if m, found := t.findMessage(chat, id); found {
			seq = max(seq, m.seq)
		}
	}
	return seq
}

// lastUntil returns the seq up to which a chat is read if its messages until a time are read. If no
// message is newer, it is the last seq.
func (t *writeTx) lastUntil(chat, moment int64) int64 {
	var newer, last int64
	if !t.Find("SELECT seq FROM messages WHERE chat = ? AND timestamp > ? LIMIT 1", []any{chat, moment}, &newer) {
		return t.numbers.seq
	}
	t.Find(`
		SELECT seq FROM messages WHERE chat = ? AND timestamp <= ?
		ORDER BY timestamp DESC, seq DESC LIMIT 1`, []any{chat, moment}, &last)
	return last
}

// readUpTo marks a chat as read up to a seq, and reports whether the chat has changed. It goes by seqs,
// not times, because a message that comes late has not been read.
func (t *writeTx) readUpTo(chat, seq int64) bool {
	var unread int64
	var marked bool
	found := t.Find("SELECT unread, marked_unread FROM chats WHERE id = ? AND (read_seq < ? OR marked_unread)",
		[]any{chat, seq}, &unread, &marked)
	if !found {
		return false
	}
	t.Run("UPDATE chats SET read_seq = max(read_seq, ?), marked_unread = 0 WHERE id = ?", seq, chat)
	return unread != 0 && countUnread(t.Conn, chat) != unread || marked
}

// countUnread counts a chat's unread messages again, from the oldest unread one on.
func countUnread(c *sqlite.Conn, chat int64) (left int64) {
	c.Find(`
		UPDATE chats SET (unread, unread_since) = (
			SELECT count(*), ifnull(min(m.timestamp), 0) FROM messages m
			WHERE m.chat = chats.id AND m.timestamp >= chats.unread_since AND m.seq > chats.read_seq
				AND NOT m.from_me AND NOT m.imported)
		WHERE id = ? AND unread > 0 RETURNING unread`, []any{chat}, &left)
	return left
}

// saveMarkedUnread marks a chat as unread.
func (t *writeTx) saveMarkedUnread(f bridge.ChatMarkedUnread) {
	c, found := t.findChat(f.Chat)
	if !found {
		return
	}
	t.changeChat(c.id, "UPDATE chats SET marked_unread = 1 WHERE id = ? AND NOT marked_unread", c.id)
}
