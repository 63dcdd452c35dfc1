package store

import (
	"context"
	"database/sql"

	"bridged/internal/bridge"
)

// mergePrivateChats makes the chats with two people who are one a single chat.
func (t *writeTx) mergePrivateChats(ctx context.Context, from, into int64) error {
	var old, kept int64
	found, err := t.find(ctx, "SELECT id FROM chats WHERE person = ?", []any{from}, &old)
	if err != nil || !found {
		return err
	}
	found, err = t.find(ctx, "SELECT id FROM chats WHERE person = ?", []any{into}, &kept)
	if err != nil {
		return err
	}
	if !found {
		return t.run(ctx, "UPDATE chats SET person = ? WHERE id = ?", into, old)
	}
	return t.mergeChats(ctx, old, kept)
}

// mergeChats moves everything from one chat to another. A message that is in
// both stays once.
func (t *writeTx) mergeChats(ctx context.Context, from, into int64) error {
	if err := t.dropDuplicates(ctx, from, into); err != nil {
		return err
	}
	if err := t.markChatStale(ctx, from); err != nil {
		return err
	}
	told, err := t.toldOfBoth(ctx, from, into)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "UPDATE messages SET chat = ? WHERE chat = ?", into, from); err != nil {
		return err
	}
	err = t.run(ctx, `
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
	if err != nil {
		return err
	}
	if err := t.run(ctx, "UPDATE OR IGNORE new_chats SET chat = ? WHERE chat = ?", into, from); err != nil {
		return err
	}
	if _, err := t.countUnread(ctx, into); err != nil {
		return err
	}
	if err := t.mergeCalls(ctx, from, into); err != nil {
		return err
	}
	if err := t.moveDeliveries(ctx, from, into); err != nil {
		return err
	}
	if err := t.run(ctx, "DELETE FROM chats WHERE id = ?", from); err != nil {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, into)
}

// toldOfBoth returns up to where those who wrote in one of two chats have been told
// that they were read: before the first message of either that nobody has been told
// of. Some of the other chat may be told twice.
func (t *writeTx) toldOfBoth(ctx context.Context, one, other int64) (told int64, err error) {
	_, err = t.find(ctx, `
		SELECT ifnull(
			(SELECT min(m.seq) - 1 FROM messages m JOIN chats c ON c.id = m.chat
				WHERE c.id IN (?1, ?2) AND m.seq > c.receipt_seq AND NOT m.from_me AND NOT m.imported
				HAVING min(m.seq) <= (SELECT max(receipt_seq) FROM chats WHERE id IN (?1, ?2))),
			(SELECT max(receipt_seq) FROM chats WHERE id IN (?1, ?2)))`, []any{one, other}, &told)
	return told, err
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

func (t *writeTx) dropDuplicates(ctx context.Context, from, into int64) error {
	var found []duplicate
	err := t.each(ctx, duplicatesQuery, []any{into, from, bridge.TypeUndecryptable}, func(rows *resultSet) error {
		var d duplicate
		err := rows.Scan(&d.old, &d.kept, &d.oldWorth, &d.keptWorth)
		found = append(found, d)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range found {
		kept, dropped := d.kept, d.old
		if d.oldWorth > d.keptWorth || d.oldWorth == d.keptWorth && d.old < d.kept {
			kept, dropped = d.old, d.kept
		}
		if err := t.dropDuplicate(ctx, kept, dropped); err != nil {
			return err
		}
	}
	return nil
}

// dropDuplicate removes one of two rows of a message; reactions, answers, marks and
// a further delivery status go over to the other.
func (t *writeTx) dropDuplicate(ctx context.Context, kept, dropped int64) error {
	err := t.run(ctx, `
		INSERT INTO reactions (message, person, emoji, timestamp)
		SELECT ?, person, emoji, timestamp FROM reactions WHERE message = ?
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > reactions.timestamp`, kept, dropped)
	if err != nil {
		return err
	}
	if err := t.countReactions(ctx, kept); err != nil {
		return err
	}
	if err := t.moveAnswers(ctx, "message", dropped, kept); err != nil {
		return err
	}
	for _, names := range []string{"aliases", "album_parts"} {
		if err := t.run(ctx, "UPDATE OR IGNORE "+names+" SET message = ? WHERE message = ?", kept, dropped); err != nil {
			return err
		}
	}
	if err := t.mergeMarks(ctx, kept, dropped); err != nil {
		return err
	}
	var status sql.NullInt64
	if _, err := t.find(ctx, "SELECT status FROM messages WHERE seq = ?", []any{dropped}, &status); err != nil {
		return err
	}
	if status.Valid {
		d, err := delivery(status.Int64)
		if err != nil {
			return err
		}
		if err := t.advanceStatus(ctx, kept, d); err != nil {
			return err
		}
	}
	return t.removeMessage(ctx, dropped)
}
