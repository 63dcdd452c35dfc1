package store

import (
	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// mergePrivateChats makes the chats with two people who are one a single chat.
func (t *writeTx) mergePrivateChats(from, into int64) {
	var old, kept int64
	found := t.Find("SELECT id FROM chats WHERE person = ?", []any{from}, &old)
	if !found {
		return
	}
	found = t.Find("SELECT id FROM chats WHERE person = ?", []any{into}, &kept)
	if !found {
		t.Run("UPDATE chats SET person = ? WHERE id = ?", into, old)
		return
	}
	t.mergeChats(old, kept)
}

// mergeChats moves everything from one chat to another. A message that is in
// both stays once.
func (t *writeTx) mergeChats(from, into int64) {
	t.dropDuplicates(from, into)
	t.s.index.MarkStale(t.Conn, db.List[int64](t.Conn, "SELECT seq FROM messages WHERE chat = ?", from)...)
	told := t.toldOfBoth(from, into)
	t.Run("UPDATE messages SET chat = ? WHERE chat = ?", into, from)
	t.Run(`
		UPDATE chats SET
			message_count = chats.message_count + old.message_count,
			last_message_at = nullif(max(ifnull(chats.last_message_at, 0), ifnull(old.last_message_at, 0)), 0),
			used = max(chats.used, old.used),
			archived = max(chats.archived, old.archived), pinned = max(chats.pinned, old.pinned),
			muted_until = nullif(max(ifnull(chats.muted_until, 0), ifnull(old.muted_until, 0)), 0),
			marked_unread = max(chats.marked_unread, old.marked_unread),
			read_seq = max(chats.read_seq, old.read_seq), receipt_seq = ?, unread = chats.unread + old.unread,
			unread_since = iif(chats.unread AND old.unread, min(chats.unread_since, old.unread_since),
				iif(chats.unread, chats.unread_since, old.unread_since))
		FROM (SELECT * FROM chats WHERE id = ?) AS old
		WHERE chats.id = ?`, told, from, into)
	t.Run("UPDATE OR IGNORE new_chats SET chat = ? WHERE chat = ?", into, from)
	t.countUnread(into)
	t.mergeCalls(from, into)
	t.moveDeliveries(from, into)
	t.Run("DELETE FROM chats WHERE id = ?", from)
	t.appendEvent(eventChatUpdated, 0, into)
}

// toldOfBoth returns up to where those who wrote in one of two chats have been told
// that they were read: before the first message of either that nobody has been told
// of. Some of the other chat may be told twice.
func (t *writeTx) toldOfBoth(one, other int64) (told int64) {
	t.Find(`
		SELECT ifnull(
			(SELECT min(m.seq) - 1 FROM messages m JOIN chats c ON c.id = m.chat
				WHERE c.id IN (?1, ?2) AND m.seq > c.receipt_seq AND NOT m.from_me AND NOT m.imported
				HAVING min(m.seq) <= (SELECT max(receipt_seq) FROM chats WHERE id IN (?1, ?2))),
			(SELECT max(receipt_seq) FROM chats WHERE id IN (?1, ?2)))`, []any{one, other}, &told)
	return told
}

// duplicate is a message that is in both of two chats.
type duplicate struct {
	old, kept           int64
	oldWorth, keptWorth int
}

// duplicatesQuery ranks what the two rows of one message know: a deletion must
// stay, an edit too, and anything beats a placeholder.
const duplicatesQuery = `
	SELECT old.seq, kept.seq,
		iif(old.deleted_at IS NOT NULL, 3, iif(old.edited_at IS NOT NULL, 2, old.type != ?3)),
		iif(kept.deleted_at IS NOT NULL, 3, iif(kept.edited_at IS NOT NULL, 2, kept.type != ?3))
	FROM messages old JOIN messages kept ON kept.chat = ?1 AND kept.id = old.id
	WHERE old.chat = ?2`

func (t *writeTx) dropDuplicates(from, into int64) {
	var found []duplicate
	for rows := range t.Rows(duplicatesQuery, into, from, bridge.TypeUndecryptable) {
		var d duplicate
		rows.Scan(&d.old, &d.kept, &d.oldWorth, &d.keptWorth)
		found = append(found, d)
	}
	for _, d := range found {
		kept, dropped := d.kept, d.old
		if d.oldWorth > d.keptWorth || d.oldWorth == d.keptWorth && d.old < d.kept {
			kept, dropped = d.old, d.kept
		}
		t.dropDuplicate(kept, dropped)
	}
}

// dropDuplicate removes one of two rows of a message; reactions, answers, marks and
// a further delivery status go over to the other.
func (t *writeTx) dropDuplicate(kept, dropped int64) {
	t.Run(`
		INSERT INTO reactions (message, person, emoji, timestamp)
		SELECT ?, person, emoji, timestamp FROM reactions WHERE message = ?
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > reactions.timestamp`, kept, dropped)
	t.countReactions(kept)
	t.moveAnswers("message", dropped, kept)
	for _, names := range []string{"aliases", "album_parts"} {
		t.Run("UPDATE OR IGNORE "+names+" SET message = ? WHERE message = ?", kept, dropped)
	}
	t.mergeMarks(kept, dropped)
	status := int64(-1)
	t.Find("SELECT ifnull(status, -1) FROM messages WHERE seq = ?", []any{dropped}, &status)
	if status >= 0 {
		d, err := delivery(status)
		t.Fail(err)
		t.advanceStatus(kept, d)
	}
	t.removeMessage(dropped)
}
