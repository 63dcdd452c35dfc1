package store

import (
	"cmp"
	"context"
	"database/sql"

	"bridged/internal/bridge"
)

// mergePeople makes from, who was known by a LID alone, one with into: all
// that they wrote, their memberships, reactions and votes, and their chat.
func (t *writeTx) mergePeople(ctx context.Context, from person, into *person) error {
	clear(t.s.chats)
	for _, step := range []func(ctx context.Context, from, into int64) error{
		t.mergeSenders, t.mergeMembers, t.mergeReactions, t.mergeVotes, t.mergePrivateChats,
	} {
		if err := step(ctx, from.id, into.id); err != nil {
			return err
		}
	}
	t.people.merge(from.id, into.id)
	if err := t.dropPerson(ctx, from.id, into.id); err != nil {
		return err
	}
	into.name = cmp.Or(into.name, from.name)
	into.push = cmp.Or(into.push, from.push)
	into.business = cmp.Or(into.business, from.business)
	return t.saveNames(ctx, *into)
}

func (t *writeTx) dropPerson(ctx context.Context, from, into int64) error {
	var lids []bridge.JID
	err := t.each(ctx, "SELECT lid FROM identities WHERE person = ?", []any{from}, func(rows *sql.Rows) error {
		var lid bridge.JID
		err := rows.Scan(&lid)
		lids = append(lids, lid)
		return err
	})
	if err != nil {
		return err
	}
	for _, lid := range lids {
		if err := t.assignLID(ctx, lid, into); err != nil {
			return err
		}
	}
	if err := t.run(ctx, "UPDATE groups SET owner = ? WHERE owner = ?", into, from); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM people WHERE id = ?", from)
}

// mergeSenders goes chat by chat, because that is how messages are indexed.
func (t *writeTx) mergeSenders(ctx context.Context, from, into int64) error {
	chats, err := t.ids(ctx, "SELECT id FROM chats")
	if err != nil {
		return err
	}
	for _, chat := range chats {
		err := t.run(ctx, "UPDATE messages SET sender = ? WHERE chat = ? AND sender = ?", into, chat, from)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) ids(ctx context.Context, query string, args ...any) ([]int64, error) {
	var ids []int64
	err := t.each(ctx, query, args, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (t *writeTx) mergeMembers(ctx context.Context, from, into int64) error {
	groups, err := t.ids(ctx, "SELECT chat FROM members WHERE person = ?", from)
	if err != nil {
		return err
	}
	err = t.run(ctx, `
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin)
		SELECT chat, ?, display_name, is_admin, is_super_admin FROM members WHERE person = ?
		ON CONFLICT (chat, person) DO UPDATE SET
			is_admin = max(is_admin, excluded.is_admin),
			is_super_admin = max(is_super_admin, excluded.is_super_admin)`, into, from)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "DELETE FROM members WHERE person = ?", from); err != nil {
		return err
	}
	for _, chat := range groups {
		if err := t.countMembers(ctx, chat); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) mergeReactions(ctx context.Context, from, into int64) error {
	staleMarked, err := t.ids(ctx, "SELECT message FROM reactions WHERE person = ?", from)
	if err != nil {
		return err
	}
	err = t.run(ctx, `
		INSERT INTO reactions (message, person, emoji, timestamp)
		SELECT message, ?, emoji, timestamp FROM reactions WHERE person = ?
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > reactions.timestamp`, into, from)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "DELETE FROM reactions WHERE person = ?", from); err != nil {
		return err
	}
	for _, message := range staleMarked {
		if err := t.countReactions(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) mergeVotes(ctx context.Context, from, into int64) error {
	err := t.run(ctx, `
		INSERT INTO votes (message, person, hashes, timestamp)
		SELECT message, ?, hashes, timestamp FROM votes WHERE person = ?
		ON CONFLICT (message, person) DO UPDATE SET hashes = excluded.hashes, timestamp = excluded.timestamp
		WHERE excluded.timestamp > votes.timestamp`, into, from)
	if err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM votes WHERE person = ?", from)
}

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
	if err := t.run(ctx, "UPDATE messages SET chat = ? WHERE chat = ?", into, from); err != nil {
		return err
	}
	err := t.run(ctx, `
		INSERT INTO days (chat, day, messages) SELECT ?, day, messages FROM days WHERE chat = ?
		ON CONFLICT (chat, day) DO UPDATE SET messages = messages + excluded.messages`, into, from)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "DELETE FROM days WHERE chat = ?", from); err != nil {
		return err
	}
	err = t.run(ctx, `
		UPDATE chats SET
			message_count = chats.message_count + old.message_count,
			last_message_at = nullif(max(ifnull(chats.last_message_at, 0), ifnull(old.last_message_at, 0)), 0),
			timer = iif(chats.timer = 0, old.timer, chats.timer)
		FROM (SELECT message_count, last_message_at, timer FROM chats WHERE id = ?) AS old
		WHERE chats.id = ?`, from, into)
	if err != nil {
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

// duplicate is a message that is in both of two chats.
type duplicate struct {
	old, kept           int64
	oldWorth, keptWorth int
}

// duplicatesQuery ranks what the two rows of one message know: a deletion must
// stay, an edit too, and anything beats a placeholder.
const duplicatesQuery = `
	SELECT old.arrival, kept.arrival,
		iif(old.deleted_at IS NOT NULL, 3, iif(old.edited_at IS NOT NULL, 2, old.type != ?3)),
		iif(kept.deleted_at IS NOT NULL, 3, iif(kept.edited_at IS NOT NULL, 2, kept.type != ?3))
	FROM messages old JOIN messages kept ON kept.chat = ?1 AND kept.id = old.id
	WHERE old.chat = ?2`

func (t *writeTx) dropDuplicates(ctx context.Context, from, into int64) error {
	var found []duplicate
	err := t.each(ctx, duplicatesQuery, []any{into, from, bridge.TypeUndecryptable}, func(rows *sql.Rows) error {
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

// dropDuplicate removes one of two rows of a message; reactions, votes and a
// further delivery status go over to the other.
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
	err = t.run(ctx, `
		INSERT INTO votes (message, person, hashes, timestamp)
		SELECT ?, person, hashes, timestamp FROM votes WHERE message = ?
		ON CONFLICT (message, person) DO UPDATE SET hashes = excluded.hashes, timestamp = excluded.timestamp
		WHERE excluded.timestamp > votes.timestamp`, kept, dropped)
	if err != nil {
		return err
	}
	var status sql.NullInt64
	if _, err := t.find(ctx, "SELECT status FROM messages WHERE arrival = ?", []any{dropped}, &status); err != nil {
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
