package store

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
)

// mergePeople makes from, who was known by a LID alone, one with into: all
// that they wrote, their memberships, reactions and answers, and their chat.
func (t *writeTx) mergePeople(ctx context.Context, from person, into *person) error {
	clear(t.s.chats)
	for _, step := range []func(ctx context.Context, from, into int64) error{
		t.mergeSenders, t.mergeMembers, t.mergeRequests, t.mergeReactions, t.mergeAnswers, t.mergeTimers, t.mergeCallers, t.mergePrivateChats, t.mergePending,
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
	into.username = cmp.Or(from.username, into.username) // a new LID is told with its username
	if err := t.saveNames(ctx, *into); err != nil {
		return err
	}
	return t.applyPendingIn(ctx, into.jid())
}

func (t *writeTx) dropPerson(ctx context.Context, from, into int64) error {
	var lids []bridge.JID
	err := t.each(ctx, "SELECT lid FROM identities WHERE person = ?", []any{from}, func(rows *resultSet) error {
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
	err := t.each(ctx, query, args, func(rows *resultSet) error {
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
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at)
		SELECT chat, ?, display_name, is_admin, is_super_admin, label, label_at FROM members WHERE person = ?
		ON CONFLICT (chat, person) DO UPDATE SET
			label = iif(excluded.label_at > label_at, excluded.label, label), label_at = max(label_at, excluded.label_at),
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

// answerTables are the tables of what people answered to polls and events, each
// their latest.
var answerTables = []string{"votes", "event_responses"}

// mergeAnswers has the later answer of two people who are one count.
func (t *writeTx) mergeAnswers(ctx context.Context, from, into int64) error {
	return t.moveAnswers(ctx, "person", from, into)
}

// moveAnswers changes the message or the person of answers. Of two to one message
// by one person the later counts.
func (t *writeTx) moveAnswers(ctx context.Context, column string, from, into int64) error {
	same := map[string]string{"message": "person", "person": "message"}[column]
	for _, table := range answerTables {
		err := t.run(ctx, `
			DELETE FROM `+table+` AS old WHERE `+column+` IN (?1, ?2) AND EXISTS (
				SELECT 1 FROM `+table+` AS other
				WHERE other.`+column+` = iif(old.`+column+` = ?1, ?2, ?1) AND other.`+same+` = old.`+same+`
					AND (other.timestamp > old.timestamp OR other.timestamp = old.timestamp AND old.`+column+` = ?1))`, from, into)
		if err != nil {
			return err
		}
		if err := t.run(ctx, "UPDATE "+table+" SET "+column+" = ?2 WHERE "+column+" = ?1", from, into); err != nil {
			return err
		}
	}
	return nil
}
