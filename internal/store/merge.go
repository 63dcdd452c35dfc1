package store

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// mergePeople makes from, who was known by a LID alone, one with into: all
// that they wrote, their memberships, reactions and answers, and their chat.
func (t *writeTx) mergePeople(from person, into *person) {
	clear(t.s.chats)
	for _, step := range []func(from, into int64){
		t.mergeSenders, t.mergeMembers, t.mergeRequests, t.mergeReactions, t.mergeAnswers, t.mergeTimers, t.mergeCallers, t.mergePrivateChats, t.mergePending,
	} {
		step(from.id, into.id)
	}
	t.people.merge(from.id, into.id)
	t.dropPerson(from.id, into.id)
	into.name = cmp.Or(into.name, from.name)
	into.push = cmp.Or(into.push, from.push)
	into.business = cmp.Or(into.business, from.business)
	into.username = cmp.Or(from.username, into.username) // a new LID is told with its username
	t.saveNames(*into)
	t.applyPendingIn(into.jid())
}

func (t *writeTx) dropPerson(from, into int64) {
	for _, lid := range db.List[bridge.JID](t.Conn, "SELECT lid FROM identities WHERE person = ?", from) {
		t.assignLID(lid, into)
	}
	t.Run("UPDATE groups SET owner = ? WHERE owner = ?", into, from)
	t.Run("DELETE FROM people WHERE id = ?", from)
}

// mergeSenders goes chat by chat, because that is how messages are indexed.
func (t *writeTx) mergeSenders(from, into int64) {
	chats := db.List[int64](t.Conn, "SELECT id FROM chats")
	for _, chat := range chats {
		t.Run("UPDATE messages SET sender = ? WHERE chat = ? AND sender = ?", into, chat, from)
	}
}

func (t *writeTx) mergeMembers(from, into int64) {
	groups := db.List[int64](t.Conn, "SELECT chat FROM members WHERE person = ?", from)
	t.Run(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at)
		SELECT chat, ?, display_name, is_admin, is_super_admin, label, label_at FROM members WHERE person = ?
		ON CONFLICT (chat, person) DO UPDATE SET
			label = iif(excluded.label_at > label_at, excluded.label, label), label_at = max(label_at, excluded.label_at),
			is_admin = max(is_admin, excluded.is_admin),
			is_super_admin = max(is_super_admin, excluded.is_super_admin)`, into, from)
	t.Run("DELETE FROM members WHERE person = ?", from)
	for _, chat := range groups {
		t.countMembers(chat)
	}
}

func (t *writeTx) mergeReactions(from, into int64) {
	staleMarked := db.List[int64](t.Conn, "SELECT message FROM reactions WHERE person = ?", from)
	t.Run(`
		INSERT INTO reactions (message, person, emoji, timestamp)
		SELECT message, ?, emoji, timestamp FROM reactions WHERE person = ?
		ON CONFLICT (message, person) DO UPDATE SET emoji = excluded.emoji, timestamp = excluded.timestamp
		WHERE excluded.timestamp > reactions.timestamp`, into, from)
	t.Run("DELETE FROM reactions WHERE person = ?", from)
	for _, message := range staleMarked {
		t.countReactions(message)
	}
}

// answerTables are the tables of what people answered to polls and events, each
// their latest.
var answerTables = []string{"votes", "event_responses"}

// mergeAnswers has the later answer of two people who are one count.
func (t *writeTx) mergeAnswers(from, into int64) {
	t.moveAnswers("person", from, into)
}

// moveAnswers changes the message or the person of answers. Of two to one message
// by one person the later counts.
func (t *writeTx) moveAnswers(column string, from, into int64) {
	same := map[string]string{"message": "person", "person": "message"}[column]
	for _, table := range answerTables {
		t.Run(`
			DELETE FROM `+table+` AS old WHERE `+column+` IN (?1, ?2) AND EXISTS (
				SELECT 1 FROM `+table+` AS other
				WHERE other.`+column+` = iif(old.`+column+` = ?1, ?2, ?1) AND other.`+same+` = old.`+same+`
					AND (other.timestamp > old.timestamp OR other.timestamp = old.timestamp AND old.`+column+` = ?1))`, from, into)
		t.Run("UPDATE "+table+" SET "+column+" = ?2 WHERE "+column+" = ?1", from, into)
	}
}
