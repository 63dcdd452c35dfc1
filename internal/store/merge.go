package store

import (
	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
	"bridged/internal/store/settings"
)

// mergeTx makes two people, and their chats, one.
type mergeTx struct{ *writeTx }

// PersonChanged updates the chat with p, and the names of p's groups without a subject.
func (t mergeTx) PersonChanged(p people.Person) { t.updateChats(p) }

// SenderRenamed gives the pending changes of a sender their new JID.
func (t mergeTx) SenderRenamed(from, into bridge.JID) {
	pendingTx(t).movePending("sender", string(from), string(into))
}

// Merging moves all rows of one person to another.
func (t mergeTx) Merging(from, into int64) {
	clear(t.s.chats)
	mergeRows(t.Conn, from, into)
	t.mergeMembers(from, into)
	t.mergeAnswers(from, into)
	t.mergePrivateChats(from, into)
	pendingTx(t).mergePending(from, into)
}

// Merged applies the pending changes that have waited for two chats to become one.
func (t mergeTx) Merged(into people.Person) { pendingTx(t).applyPendingIn(into.JID()) }

// mergePerson lists the simple moves from one person (?1) to another. The timer that was set
// last stays.
var mergePerson = []string{
	`UPDATE people SET timer = old.timer, timer_set_at = old.timer_set_at
	FROM (SELECT timer, timer_set_at FROM people WHERE id = ?1) AS old
	WHERE people.id = ?2 AND (old.timer_set_at > people.timer_set_at OR people.timer = 0 AND people.timer_set_at = 0)`,
	"UPDATE people SET blocked = 1 WHERE id = ?2 AND (SELECT blocked FROM people WHERE id = ?1)",
	"UPDATE OR IGNORE join_requests SET person = ?2 WHERE person = ?1",
	"DELETE FROM join_requests WHERE person = ?1 AND person != ?2",
	"UPDATE calls SET caller = ?2 WHERE caller = ?1",
	"UPDATE groups SET owner = ?2 WHERE owner = ?1",
}

func mergeRows(c *sqlite.Conn, from, into int64) {
	for _, statement := range mergePerson {
		c.Run(statement, from, into)
	}
	// Messages are indexed chat by chat.
	for _, chat := range sqlite.List[int64](c, "SELECT id FROM chats") {
		c.Run("UPDATE messages SET sender = ? WHERE chat = ? AND sender = ?", into, chat, from)
	}
}

func (t mergeTx) mergeMembers(from, into int64) {
	groups := sqlite.List[int64](t.Conn, "SELECT chat FROM members WHERE person = ?", from)
	t.Run(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at)
		SELECT chat, ?, display_name, is_admin, is_super_admin, label, label_at FROM members WHERE person = ?
		ON CONFLICT (chat, person) DO UPDATE SET
			label = iif(excluded.label_at > label_at, excluded.label, label), label_at = max(label_at, excluded.label_at),
			is_admin = max(is_admin, excluded.is_admin),
			is_super_admin = max(is_super_admin, excluded.is_super_admin)`, into, from)
	t.Run("DELETE FROM members WHERE person = ?", from)
	for _, chat := range groups {
		groupTx(t).countMembers(chat)
	}
}

func (t mergeTx) mergeAnswers(from, into int64) {
	reacted := sqlite.List[int64](t.Conn, "SELECT message FROM reactions WHERE person = ?", from)
	moveAnswers(t.Conn, "person", from, into)
	for _, message := range reacted {
		countReactions(t.Conn, message)
	}
}

// moveAnswers changes the message or the person of reactions, and of answers to polls and
// events. Of two to one message by one person the later counts.
func moveAnswers(c *sqlite.Conn, column string, from, into int64) {
	same := map[string]string{"message": "person", "person": "message"}[column]
	for _, table := range []string{"reactions", "votes", "event_responses"} {
		c.Run(`
			DELETE FROM `+table+` AS old WHERE `+column+` IN (?1, ?2) AND EXISTS (
				SELECT 1 FROM `+table+` AS other
				WHERE other.`+column+` = iif(old.`+column+` = ?1, ?2, ?1) AND other.`+same+` = old.`+same+`
					AND (other.timestamp > old.timestamp OR other.timestamp = old.timestamp AND old.`+column+` = ?1))`, from, into)
		c.Run("UPDATE "+table+" SET "+column+" = ?2 WHERE "+column+" = ?1", from, into)
	}
}

// mergePrivateChats makes the chats with two people who are one a single chat.
func (t mergeTx) mergePrivateChats(from, into int64) {
	var old, kept int64
	if !t.Find("SELECT id FROM chats WHERE person = ?", []any{from}, &old) {
		return
	}
	if !t.Find("SELECT id FROM chats WHERE person = ?", []any{into}, &kept) {
		t.Run("UPDATE chats SET person = ? WHERE id = ?", into, old)
		return
	}
	t.mergeChats(old, kept)
}

// mergeChats moves everything from one chat to another. A message that is in both is stored once
// afterwards.
func (t mergeTx) mergeChats(from, into int64) {
	t.dropDuplicates(from, into)
	t.s.index.MarkStale(t.Conn, sqlite.List[int64](t.Conn, "SELECT seq FROM messages WHERE chat = ?", from)...)
	receipt := receiptOfBoth(t.Conn, from, into)
	t.Run("UPDATE messages SET chat = ? WHERE chat = ?", into, from)
	t.Run(`
		UPDATE chats SET
			message_count = chats.message_count + old.message_count,
			last_message_at = nullif(max(ifnull(chats.last_message_at, 0), ifnull(old.last_message_at, 0)), 0),
			hidden = min(chats.hidden, old.hidden), used = max(chats.used, old.used), history_end = max(chats.history_end, old.history_end),
			archived = max(chats.archived, old.archived), pinned = max(chats.pinned, old.pinned),
			muted_until = nullif(max(ifnull(chats.muted_until, 0), ifnull(old.muted_until, 0)), 0),
			marked_unread = max(chats.marked_unread, old.marked_unread),
			read_seq = max(chats.read_seq, old.read_seq), receipt_seq = ?, unread = chats.unread + old.unread,
			unread_since = iif(chats.unread AND old.unread, min(chats.unread_since, old.unread_since),
				iif(chats.unread, chats.unread_since, old.unread_since))
		FROM (SELECT * FROM chats WHERE id = ?) AS old
		WHERE chats.id = ?`, receipt, from, into)
	t.Run("UPDATE OR IGNORE new_chats SET chat = ? WHERE chat = ?", into, from)
	countUnread(t.Conn, into)
	mergeCalls(t.Conn, from, into)
	settings.MoveDeliveries(t.Conn, from, into)
	var old, kept bridge.JID
	t.Find("SELECT a.jid, b.jid FROM chats a, chats b WHERE a.id = ? AND b.id = ?", []any{from, into}, &old, &kept)
	moveLabels(t.Conn, old, kept)
	t.Run("DELETE FROM chats WHERE id = ?", from)
	t.appendEvent(bridge.EventChatUpdated, 0, into)
}

// receiptOfBoth returns the seq up to which read receipts were sent in both of two chats: the one before
// the first message without a receipt. Some messages may get a second receipt.
func receiptOfBoth(c *sqlite.Conn, one, other int64) (receipt int64) {
	c.Find(`
		SELECT ifnull(
			(SELECT min(m.seq) - 1 FROM messages m JOIN chats c ON c.id = m.chat
				WHERE c.id IN (?1, ?2) AND m.seq > c.receipt_seq AND NOT m.from_me AND NOT m.imported
				HAVING min(m.seq) <= (SELECT max(receipt_seq) FROM chats WHERE id IN (?1, ?2))),
			(SELECT max(receipt_seq) FROM chats WHERE id IN (?1, ?2)))`, []any{one, other}, &receipt)
	return receipt
}

// duplicatesQuery finds messages that are in two chats, and ranks both rows: a deleted one wins, then an
// edited one; a placeholder loses.
const duplicatesQuery = `
	SELECT old.seq, kept.seq,
		iif(old.deleted_at IS NOT NULL, 3, iif(old.edited_at IS NOT NULL, 2, old.type != ?3)),
		iif(kept.deleted_at IS NOT NULL, 3, iif(kept.edited_at IS NOT NULL, 2, kept.type != ?3))
	FROM messages old JOIN messages kept ON kept.chat = ?1 AND kept.id = old.id
	WHERE old.chat = ?2`

func (t mergeTx) dropDuplicates(from, into int64) {
	type duplicate struct{ kept, dropped int64 }
	scan := func(row *sqlite.Row) duplicate {
		var old, kept int64
		var oldWorth, keptWorth int
		row.Scan(&old, &kept, &oldWorth, &keptWorth)
		if oldWorth > keptWorth || oldWorth == keptWorth && old < kept {
			return duplicate{old, kept}
		}
		return duplicate{kept, old}
	}
	for _, d := range sqlite.Collect(t.Conn, scan, duplicatesQuery, into, from, bridge.TypeUndecryptable) {
		t.dropDuplicate(d.kept, d.dropped)
	}
}

// dropDuplicate removes one of two rows of a message, and moves reactions, answers, marks and
// a later delivery status to the other.
func (t mergeTx) dropDuplicate(kept, dropped int64) {
	moveAnswers(t.Conn, "message", dropped, kept)
	countReactions(t.Conn, kept)
	t.Run("UPDATE OR IGNORE aliases SET message = ? WHERE message = ?", kept, dropped)
	t.Run("UPDATE OR IGNORE album_parts SET message = ? WHERE message = ?", kept, dropped)
	t.Run("UPDATE OR IGNORE quotes SET message = ? WHERE message = ?", kept, dropped)
	t.mergeMarks(kept, dropped)
	t.mergeStars(kept, dropped)
	status := int64(-1)
	t.Find("SELECT ifnull(status, -1) FROM messages WHERE seq = ?", []any{dropped}, &status)
	if status >= 0 {
		d, err := columns.Delivery(status)
		t.Fail(err)
		t.advanceStatus(kept, d)
	}
	t.removeMessage(dropped)
}
