package store

import (
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// A change may come before the message that it is about: long queues are not
// delivered in order. Then it is pending, and made when the message comes, by the
// same rules as if it had come after. A deletion in a group whose members are
// not known waits for them, and the edit of a placeholder for its message.

// The kinds of pending change as they are numbered in the table pending_changes. The
// numbers are stored: they never change their meaning.
const (
	pendingDeletion  = 1
	pendingEdit      = 2
	pendingReaction  = 3
	pendingVote      = 4
	pendingEncrypted = 5
	pendingResponse  = 6
	pendingOption    = 7
	pendingPin       = 8
	pendingKeep      = 9
)

// pendingChange is a change that waits for a message.
type pendingChange struct {
	kind   int
	chat   bridge.JID
	target string
	sender bridge.JID
	stanza string
	fact   string
	raw    []byte
}

// postpone keeps a change until its message comes. A deletion takes what its sender
// has postponed for the message before, and lets nothing more of theirs wait: what
// is deleted is not kept.
func (t *writeTx) postpone(fact bridge.Fact) {
	row := t.packPending(fact)
	if !isChat(row.chat) || row.target == "" || !row.sender.IsPerson() || row.size() > maxPendingSize {
		return
	}
	t.ensurePerson(row.sender)
	if !row.chat.IsGroup() {
		t.ensurePerson(row.chat)
	}
	chat, sender := t.pendingChat(row.chat), string(t.people.canonical(row.sender))
	if row.kind == pendingDeletion {
		t.dropPending("chat = ? AND target = ? AND sender = ? AND kind != ?", chat, row.target, sender, pendingDeletion)
	}
	id, added := t.insertPending(row, chat, sender)
	if added {
		t.limitPending(id, sender)
	}
}

// insertPending reports whether the change is pending now: it is not where one of
// the same kind is there that counts, the last edit, reaction or vote, or a
// deletion by the same sender.
func (t *writeTx) insertPending(row pendingChange, chat, sender string) (id int64, added bool) {
	if row.kind != pendingDeletion {
		t.dropPending("chat = ? AND target = ? AND kind = ? AND sender = ? AND stanza = ? AND fact ->> '$.t' <= ? ->> '$.t'",
			chat, row.target, row.kind, sender, row.stanza, row.fact)
	}
	added = t.Find(`
		INSERT INTO pending_changes (chat, target, kind, sender, stanza, at, size, fact, raw)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
		WHERE NOT EXISTS (SELECT 1 FROM pending_changes WHERE chat = ?1 AND target = ?2 AND kind = ?10 AND sender = ?4)
		ON CONFLICT DO NOTHING RETURNING id`,
		[]any{chat, row.target, row.kind, sender, row.stanza, t.at, row.size(), row.fact, row.raw, pendingDeletion}, &id)
	return id, added
}

// pendingChat returns the name of a chat in the table pending_changes: it must outlast that
// a number is learned for a LID. It is empty for a person who is not known.
func (t *writeTx) pendingChat(chat bridge.JID) string {
	if chat.IsGroup() {
		return string(chat)
	}
	if p, known := t.people.find(chat); known {
		return pendingPerson(p.id)
	}
	return ""
}

func pendingPerson(id int64) string { return "person " + strconv.FormatInt(id, 10) }

// applyPending makes the changes that have waited for a message, which is stored
// now. Deletions come first: what one of them deletes was never there for
// anybody, because the message is stored in this transaction.
func (t *writeTx) applyPending(chat bridge.JID, id string) {
	name := t.pendingChat(chat)
	var rows []pendingChange
	for found := range t.Rows(`
		SELECT kind, sender, stanza, fact, raw FROM pending_changes WHERE chat = ? AND target = ?
		ORDER BY kind = ? DESC, fact ->> '$.t', id`, name, id, pendingDeletion) {
		row := pendingChange{chat: chat, target: id}
		found.Scan(&row.kind, &row.sender, &row.stanza, &row.fact, &row.raw)
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	t.dropPending("chat = ? AND target = ?", name, id)
	for _, row := range rows {
		t.save(t.unpackPending(row))
	}
}

// applyPendingIn makes the changes that have waited in a chat for what is known
// now, its members, or that it is one with another.
func (t *writeTx) applyPendingIn(jid bridge.JID) {
	c, found := t.findChat(jid)
	if !found {
		return
	}
	targets := db.List[string](t.Conn, `
		SELECT DISTINCT p.target FROM pending_changes p JOIN messages m ON m.chat = ? AND m.id = p.target WHERE p.chat = ?`, c.id, t.pendingChat(jid))
	for _, target := range targets {
		t.applyPending(jid, target)
	}
}

// hasPendingEdit reports whether an edit waits for the real message of a placeholder.
func (t *writeTx) hasPendingEdit(chat bridge.JID, id string) (pending bool) {
	t.Find("SELECT 1 FROM pending_changes WHERE chat = ? AND target = ? AND kind = ?",
		[]any{t.pendingChat(chat), id, pendingEdit}, &pending)
	return pending
}

// dropPendingOf removes what waits for a message of the chat under any of its ids.
func (t *writeTx) dropPendingOf(chat bridge.JID, seq int64) {
	t.dropPending(`chat = ?1 AND target IN (
		SELECT id FROM messages WHERE seq = ?2 UNION SELECT id FROM aliases WHERE message = ?2)`, t.pendingChat(chat), seq)
}

// dropPending removes pending change, whose texts must not stay on the disk.
func (t *writeTx) dropPending(where string, args ...any) {
	removed := t.Change("DELETE FROM pending_changes WHERE "+where, args...)
	if removed == 0 {
		return
	}
	t.markErased()
}
