package store

import (
	"context"
	"strconv"
	"time"

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

// dropPending removes pending changes, whose texts must not stay on the disk, and
// returns how many.
func (t *writeTx) dropPending(where string, args ...any) int64 {
	removed := t.Change("DELETE FROM pending_changes WHERE "+where, args...)
	if removed > 0 {
		t.markErased()
	}
	return removed
}

// What waits for its message is bounded in age, in size and in number, for each
// sender and in all, so that no stranger fills the disk or drives out what others
// have postponed. Deletions go last.
const (
	// pendingLife is as long as the network keeps stanzas for a device, and as long
	// as a phone may be away before its devices are unlinked: what has not come by
	// then will not come.
	pendingLife = 14 * 24 * time.Hour

	maxPendingSize         = 1 << 20 // of one change, in bytes
	maxPendingOfSender     = 1000
	maxPendingSizeOfSender = 2 << 20
	maxPending             = 20_000
	maxPendingSizeInAll    = 64 << 20

	// pendingCheck is after how many changes the whole table is looked at.
	pendingCheck = 64
)

// limitPending removes what is too much: of a sender with each change, in all with
// every pendingCheck-th.
func (t *writeTx) limitPending(id int64, sender string) {
	t.trimPending("sender = ?", sender, maxPendingOfSender, maxPendingSizeOfSender)
	if id%pendingCheck != 0 {
		return
	}
	t.trimPending("? != ''", sender, maxPending, maxPendingSizeInAll)
}

func (t *writeTx) trimPending(where, sender string, most, mostSize int64) {
	var count, size int64
	t.Find("SELECT count(*), ifnull(sum(size), 0) FROM pending_changes WHERE "+where, []any{sender}, &count, &size)
	if count <= most && size <= mostSize {
		return
	}
	t.dropPending(`id IN (
		SELECT id FROM (
			SELECT id, row_number() OVER last AS place, sum(size) OVER last AS size FROM pending_changes WHERE `+where+`
			WINDOW last AS (ORDER BY kind = ? DESC, id DESC)
		) WHERE place > ? OR size > ?)`, sender, pendingDeletion, most, mostSize)
}

// ForgetPending removes the changes that have waited too long for their message,
// and returns how many.
func (s *Store) ForgetPending(ctx context.Context) (int, error) {
	return s.forgetPendingBefore(ctx, s.clock.Now().Add(-pendingLife))
}

func (s *Store) forgetPendingBefore(ctx context.Context, before time.Time) (int, error) {
	removed := int64(0)
	err := s.writeAs(ctx, "remove changes whose messages have not come", func(t *writeTx) {
		removed = t.dropPending("at < ?", before.UnixMilli())
	})
	if err != nil {
		return 0, err
	}
	return int(removed), nil
}

// mergePending moves what waits in the chat with one person to another's, and
// has what the first has sent bear the other's name.
func (t *writeTx) mergePending(from, into int64) {
	t.movePending("chat", pendingPerson(from), pendingPerson(into))
	one, _ := t.people.get(from)
	other, _ := t.people.get(into)
	t.renamePending(one.jid(), other.jid())
}

// renamePending has what waits bear the present name of its sender: a deletion takes
// back what was postponed under that name.
func (t *writeTx) renamePending(from, into bridge.JID) {
	t.movePending("sender", string(from), string(into))
}

// movePending changes the chat or the sender of pending change. As where they are
// pending under one name, the last of a kind counts, and a deletion takes the
// others of its sender.
func (t *writeTx) movePending(column, from, into string) {
	same := map[string]string{"chat": "sender", "sender": "chat"}[column]
	t.dropPending(`id IN (
		SELECT iif(a.fact ->> '$.t' > b.fact ->> '$.t', b.id, a.id)
		FROM pending_changes a JOIN pending_changes b USING (target, kind, stanza, `+same+`)
		WHERE a.`+column+` = ? AND b.`+column+` = ?)`, from, into)
	moved := t.Change("UPDATE pending_changes SET "+column+" = ? WHERE "+column+" = ?", into, from)
	if moved == 0 {
		return
	}
	t.dropPending(column+` = ?1 AND kind != ?2 AND EXISTS (
		SELECT 1 FROM pending_changes d
		WHERE d.chat = pending_changes.chat AND d.target = pending_changes.target AND d.sender = pending_changes.sender AND d.kind = ?2)`,
		into, pendingDeletion)
}
