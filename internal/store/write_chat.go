package store

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
)

// chatRow is what writing needs to know of a chat.
type chatRow struct {
	id      int64
	person  int64 // 0 for groups
	isGroup bool
}

// isChat reports whether messages with this JID are kept: status updates and
// broadcast lists are no chats.
func isChat(jid bridge.JID) bool { return jid.IsPerson() || jid.IsGroup() }

// findChat looks a chat up by its JID in either form.
func (t *writeTx) findChat(ctx context.Context, jid bridge.JID) (chatRow, bool, error) {
	jid = t.people.canonical(jid)
	if c, known := t.s.chats[jid]; known {
		return c, true, nil
	}
	var c chatRow
	found, err := t.find(ctx, "SELECT id, ifnull(person, 0), is_group FROM chats WHERE jid = ?",
		[]any{string(jid)}, &c.id, &c.person, &c.isGroup)
	if found {
		t.s.chats[jid] = c
	}
	return c, found, err
}

// ensureChat finds a chat or adds it. A new group is known by its JID alone until
// the network tells more.
func (t *writeTx) ensureChat(ctx context.Context, jid bridge.JID) (chatRow, error) {
	c, found, err := t.findChat(ctx, jid)
	if found || err != nil {
		return c, err
	}
	if jid.IsGroup() {
		c, err = t.addGroup(ctx, jid)
	} else {
		c, err = t.addPrivateChat(ctx, jid)
	}
	if err != nil {
		return c, err
	}
	return c, t.appendEvent(ctx, eventChatUpdated, 0, c.id)
}

func (t *writeTx) addGroup(ctx context.Context, jid bridge.JID) (chatRow, error) {
	name := jid.User()
	id, err := t.insert(ctx, `
		INSERT INTO chats (jid, is_group, name, folded_name, participants) VALUES (?, 1, ?, ?, 0)`,
		string(jid), name, fold(name))
	if err != nil {
		return chatRow{}, err
	}
	if err := t.run(ctx, "INSERT INTO groups (chat) VALUES (?)", id); err != nil {
		return chatRow{}, err
	}
	return chatRow{id: id, isGroup: true}, t.takeSettings(ctx, id, jid, "")
}

func (t *writeTx) addPrivateChat(ctx context.Context, jid bridge.JID) (chatRow, error) {
	p, err := t.ensurePerson(ctx, jid)
	if err != nil {
		return chatRow{}, err
	}
	name := chatName(p)
	id, err := t.insert(ctx, `
		INSERT INTO chats (jid, person, is_group, name, folded_name, participants) VALUES (?, ?, 0, ?, ?, ?)`,
		string(p.jid()), p.id, name, p.foldedChat(), t.privateParticipants(p))
	if err != nil {
		return chatRow{}, err
	}
	return chatRow{id: id, person: p.id}, t.takeSettings(ctx, id, p.jid(), p.lid)
}

// chatName returns the name of the chat with p.
func chatName(p person) string { return cmp.Or(p.displayName(), p.jid().User()) }

// privateParticipants returns 2, or 1 in the chat with oneself.
func (t *writeTx) privateParticipants(p person) int {
	if p.id == t.people.owner {
		return 1
	}
	return 2
}

// updatePrivateChat brings the chat with p up to date with what is known of p.
func (t *writeTx) updatePrivateChat(ctx context.Context, p person) error {
	name := chatName(p)
	changed, err := t.change(ctx, `
		UPDATE chats SET jid = ?1, name = ?2, folded_name = ?3, participants = ?4
		WHERE person = ?5 AND (jid, name, folded_name, participants) IS NOT (?1, ?2, ?3, ?4)`,
		string(p.jid()), name, p.foldedChat(), t.privateParticipants(p), p.id)
	if err != nil || changed == 0 {
		return err
	}
	clear(t.s.chats)
	if err := t.takeSettingsOf(ctx, p); err != nil {
		return err
	}
	return t.appendChatUpdated(ctx, p)
}

// appendChatUpdated tells that the chat with p, if there is one, looks different.
func (t *writeTx) appendChatUpdated(ctx context.Context, p person) error {
	var id int64
	found, err := t.find(ctx, "SELECT id FROM chats WHERE person = ?", []any{p.id}, &id)
	if err != nil || !found {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, id)
}

// countMessage enters a message into what its chat keeps of its messages; unread
// is 1 for one that the account has not read, else 0.
func (t *writeTx) countMessage(ctx context.Context, chat, timestamp, unread int64) error {
	return t.run(ctx, `
		UPDATE chats SET message_count = message_count + 1,
			last_message_at = max(ifnull(last_message_at, 0), ?1),
			unread_since = iif(?2, iif(unread, min(unread_since, ?1), ?1), unread_since),
			unread = unread + ?2
		WHERE id = ?3`, timestamp, unread, chat)
}

// uncountMessage takes a message out again, after its row is gone or has moved.
func (t *writeTx) uncountMessage(ctx context.Context, chat int64) error {
	return t.run(ctx, `
		UPDATE chats SET message_count = message_count - 1, last_message_at =
			(SELECT max(timestamp) FROM messages WHERE chat = ?1) WHERE id = ?1`, chat)
}
