package store

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// ClearChat removes the messages of a chat, and erases them from the disk as a deletion does. It uses many
// transactions: after an error some messages may be gone, and a repeated call removes the rest. It logs
// the chat as changed.
func (s *Store) ClearChat(ctx context.Context, c bridge.ChatClearing) error {
	_, err := s.inBatches(ctx, "clear a chat", retainBatch, func(t *writeTx) int64 { return clearTx{t}.removeSome(c) })
	if err != nil {
		return err
	}
	return s.writeAs(ctx, "clear a chat", func(t *writeTx) { clearTx{t}.finish(c) })
}

// clearTx removes the messages of chats that the account has cleared.
type clearTx struct{ *writeTx }

// removeSome removes the newest messages to be removed, and returns how many. The newest come first, so
// that messages that quote others are gone before those.
func (t clearTx) removeSome(c bridge.ChatClearing) int64 {
	chat, found := t.findChat(c.Chat)
	if !found {
		return 0
	}
	seqs := sqlite.List[int64](t.Conn, `
		SELECT seq FROM messages WHERE chat = ? AND timestamp <= ? AND ifnull(status, -1) != ? AND NOT (? AND starred > 0)
		ORDER BY timestamp DESC, seq DESC`+sqlite.Limited, chat.id, c.Until.UnixMilli(), columns.StatusPending, c.KeepStarred, retainBatch)
	// The key of a message that failed is free again.
	t.Run("DELETE FROM send_keys WHERE msg_id IN (SELECT m.id FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value WHERE m.status = ?)",
		t.Encode(seqs), columns.StatusFailed)
	var ids []string
	for _, seq := range seqs {
		ids = append(ids, idsOf(t.Conn, seq)...)
		pendingTx(t).dropPendingOf(c.Chat, seq)
	}
	t.removeAll(seqs)
	for _, id := range ids {
		quoteTx(t).eraseQuotes(c.Chat, id, func(bridge.JID) bool { return true })
	}
	return int64(len(seqs))
}

// finish stores the state of a chat without its messages.
func (t clearTx) finish(c bridge.ChatClearing) {
	chat, found := t.findChat(c.Chat)
	if !found {
		return
	}
	if c.Delete {
		t.Run("UPDATE chats SET hidden = 1, pinned = 0, archived = 0 WHERE id = ? AND message_count = 0", chat.id)
		clear(t.s.chats) // which has no hidden ones
	}
	t.Run("UPDATE chats SET marked_unread = 0 WHERE id = ?", chat.id)
	t.appendEvent(bridge.EventChatUpdated, 0, chat.id)
}

// unhide shows a chat again that the account has deleted.
func (t *writeTx) unhide(c chatRow) {
	if t.Change("UPDATE chats SET hidden = 0 WHERE id = ? AND hidden", c.id) > 0 {
		t.appendEvent(bridge.EventChatUpdated, 0, c.id)
	}
}
