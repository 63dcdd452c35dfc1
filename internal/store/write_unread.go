package store

import (
	"context"

	"bridged/internal/bridge"
)

// saveChatRead notes that the account has read a chat on one of its devices.
func (t *writeTx) saveChatRead(ctx context.Context, f bridge.ChatRead) error {
	c, found, err := t.findChat(ctx, f.Chat)
	if err != nil || !found {
		return err
	}
	seq, told := f.Arrival, true
	switch {
	case seq > 0:
	case len(f.IDs) > 0:
		seq, err = t.lastOf(ctx, f)
	default:
		// Receipts come beside it, and say more exactly what was told.
		told = false
		seq, err = t.lastUntil(ctx, c.id, f.Until.UnixMilli())
	}
	if err != nil || seq == 0 {
		return err
	}
	if told {
		if err := t.run(ctx, "UPDATE chats SET receipt_seq = ? WHERE id = ? AND receipt_seq < ?", seq, c.id, seq); err != nil {
			return err
		}
	}
	changed, err := t.readUpTo(ctx, c.id, seq)
	if err != nil || !changed {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, c.id)
}

// lastOf returns which of the messages that were read arrived last, 0 where
// none is stored.
func (t *writeTx) lastOf(ctx context.Context, f bridge.ChatRead) (int64, error) {
	var last int64
	for _, id := range f.IDs {
		m, found, err := t.findMessage(ctx, f.Chat, id)
		if err != nil {
			return 0, err
		}
		if found {
			last = max(last, m.seq)
		}
	}
	return last, nil
}

// lastUntil returns up to which arrival a chat is read whose messages were read
// up to a moment: where none is newer, all that there is.
func (t *writeTx) lastUntil(ctx context.Context, chat, moment int64) (int64, error) {
	var newer, last int64
	found, err := t.find(ctx, "SELECT seq FROM messages WHERE chat = ? AND timestamp > ? LIMIT 1", []any{chat, moment}, &newer)
	if err != nil || !found {
		return t.numbers.seq, err
	}
	_, err = t.find(ctx, `
		SELECT seq FROM messages WHERE chat = ? AND timestamp <= ?
		ORDER BY timestamp DESC, seq DESC LIMIT 1`, []any{chat, moment}, &last)
	return last, err
}

// readUpTo notes that the account has read a chat up to an arrival, and reports
// whether the chat looks different now. What counts is the order of arrival: a
// message that comes late has not been read, whatever time it bears.
func (t *writeTx) readUpTo(ctx context.Context, chat, seq int64) (bool, error) {
	var unread, left int64
	var marked bool
	found, err := t.find(ctx, "SELECT unread, marked_unread FROM chats WHERE id = ? AND (read_seq < ? OR marked_unread)",
		[]any{chat, seq}, &unread, &marked)
	if err != nil || !found {
		return false, err
	}
	err = t.run(ctx, "UPDATE chats SET read_seq = max(read_seq, ?), marked_unread = 0 WHERE id = ?", seq, chat)
	if err != nil || unread == 0 {
		return marked, err
	}
	left, err = t.countUnread(ctx, chat)
	return marked || left != unread, err
}

// countUnread counts a chat's unread messages anew, among those that are not
// older than the oldest unread one was.
func (t *writeTx) countUnread(ctx context.Context, chat int64) (left int64, err error) {
	_, err = t.find(ctx, `
		UPDATE chats SET (unread, unread_since) = (
			SELECT count(*), ifnull(min(m.timestamp), 0) FROM messages m
			WHERE m.chat = chats.id AND m.timestamp >= chats.unread_since AND m.seq > chats.read_seq
				AND NOT m.from_me AND NOT m.imported)
		WHERE id = ? AND unread > 0 RETURNING unread`, []any{chat}, &left)
	return left, err
}

// uncountUnread takes a message of somebody else, which is gone, out of the
// unread ones, if it was one.
func (t *writeTx) uncountUnread(ctx context.Context, chat, seq int64) error {
	return t.run(ctx, "UPDATE chats SET unread = unread - 1 WHERE id = ? AND unread > 0 AND read_seq < ?", chat, seq)
}

// saveMarkedUnread notes a chat that somebody wants to come back to.
func (t *writeTx) saveMarkedUnread(ctx context.Context, f bridge.ChatMarkedUnread) error {
	c, found, err := t.findChat(ctx, f.Chat)
	if err != nil || !found {
		return err
	}
	changed, err := t.change(ctx, "UPDATE chats SET marked_unread = 1 WHERE id = ? AND NOT marked_unread", c.id)
	if err != nil || changed == 0 {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, c.id)
}
