package store

import (
	"cmp"

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
func (t *writeTx) findChat(jid bridge.JID) (chatRow, bool) {
	jid = t.people.canonical(jid)
	if c, known := t.s.chats[jid]; known {
		return c, true
	}
	var c chatRow
	found := t.Find("SELECT id, ifnull(person, 0), is_group FROM chats WHERE jid = ?",
		[]any{string(jid)}, &c.id, &c.person, &c.isGroup)
	if found {
		t.s.chats[jid] = c
	}
	return c, found
}

// ensureChat finds a chat or adds it. A new group is known by its JID alone until
// the network tells more.
func (t *writeTx) ensureChat(jid bridge.JID) chatRow {
	c, found := t.findChat(jid)
	if found {
		return c
	}
	if jid.IsGroup() {
		c = t.addGroup(jid)
	} else {
		c = t.addPrivateChat(jid)
	}
	t.appendEvent(eventChatUpdated, 0, c.id)
	return c
}

func (t *writeTx) addGroup(jid bridge.JID) chatRow {
	name := jid.User()
	id := t.Insert(`
		INSERT INTO chats (jid, is_group, name, folded_name, participants) VALUES (?, 1, ?, ?, 0)`,
		string(jid), name, fold(name))
	t.Run("INSERT INTO groups (chat) VALUES (?)", id)
	t.takeSettings(id, jid, "")
	return chatRow{id: id, isGroup: true}
}

func (t *writeTx) addPrivateChat(jid bridge.JID) chatRow {
	p := t.ensurePerson(jid)
	name := chatName(p)
	id := t.Insert(`
		INSERT INTO chats (jid, person, is_group, name, folded_name, participants) VALUES (?, ?, 0, ?, ?, ?)`,
		string(p.jid()), p.id, name, p.foldedChat(), t.privateParticipants(p))
	t.takeSettings(id, p.jid(), p.lid)
	return chatRow{id: id, person: p.id}
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
func (t *writeTx) updatePrivateChat(p person) {
	name := chatName(p)
	changed := t.Change(`
		UPDATE chats SET jid = ?1, name = ?2, folded_name = ?3, participants = ?4
		WHERE person = ?5 AND (jid, name, folded_name, participants) IS NOT (?1, ?2, ?3, ?4)`,
		string(p.jid()), name, p.foldedChat(), t.privateParticipants(p), p.id)
	if changed == 0 {
		return
	}
	clear(t.s.chats)
	t.takeSettingsOf(p)
	t.appendChatUpdated(p)
}

// appendChatUpdated tells that the chat with p, if there is one, looks different.
func (t *writeTx) appendChatUpdated(p person) {
	var id int64
	found := t.Find("SELECT id FROM chats WHERE person = ?", []any{p.id}, &id)
	if !found {
		return
	}
	t.appendEvent(eventChatUpdated, 0, id)
}

// countMessage enters a message into what its chat keeps of its messages; unread
// is 1 for one that the account has not read, else 0.
func (t *writeTx) countMessage(chat, timestamp, unread int64) {
	t.Run(`
		UPDATE chats SET message_count = message_count + 1,
			last_message_at = max(ifnull(last_message_at, 0), ?1),
			unread_since = iif(?2, iif(unread, min(unread_since, ?1), ?1), unread_since),
			unread = unread + ?2
		WHERE id = ?3`, timestamp, unread, chat)
}

// uncountMessage takes a message out again, after its row is gone or has moved.
func (t *writeTx) uncountMessage(chat int64) {
	t.Run(`
		UPDATE chats SET message_count = message_count - 1, last_message_at =
			(SELECT max(timestamp) FROM messages WHERE chat = ?1) WHERE id = ?1`, chat)
}
