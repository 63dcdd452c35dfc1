package store

import (
	"context"
	"strconv"

	"bridged/internal/bridge"
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
func (t *writeTx) postpone(ctx context.Context, fact bridge.Fact) error {
	row, err := packPending(fact)
	if err != nil || !isChat(row.chat) || row.target == "" || !row.sender.IsPerson() || row.size() > maxPendingSize {
		return err
	}
	if _, err := t.ensurePerson(ctx, row.sender); err != nil {
		return err
	}
	if !row.chat.IsGroup() {
		if _, err := t.ensurePerson(ctx, row.chat); err != nil {
			return err
		}
	}
	chat, sender := t.pendingChat(row.chat), string(t.people.canonical(row.sender))
	if row.kind == pendingDeletion {
		if err := t.dropPending(ctx, "chat = ? AND target = ? AND sender = ? AND kind != ?", chat, row.target, sender, pendingDeletion); err != nil {
			return err
		}
	}
	id, added, err := t.insertPending(ctx, row, chat, sender)
	if err != nil || !added {
		return err
	}
	return t.limitPending(ctx, id, sender)
}

// insertPending reports whether the change is pending now: it is not where one of
// the same kind is there that counts, the last edit, reaction or vote, or a
// deletion by the same sender.
func (t *writeTx) insertPending(ctx context.Context, row pendingChange, chat, sender string) (id int64, added bool, err error) {
	if row.kind != pendingDeletion {
		err = t.dropPending(ctx, "chat = ? AND target = ? AND kind = ? AND sender = ? AND stanza = ? AND fact ->> '$.t' <= ? ->> '$.t'",
			chat, row.target, row.kind, sender, row.stanza, row.fact)
	}
	if err != nil {
		return 0, false, err
	}
	added, err = t.find(ctx, `
		INSERT INTO pending_changes (chat, target, kind, sender, stanza, at, size, fact, raw)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
		WHERE NOT EXISTS (SELECT 1 FROM pending_changes WHERE chat = ?1 AND target = ?2 AND kind = ?10 AND sender = ?4)
		ON CONFLICT DO NOTHING RETURNING id`,
		[]any{chat, row.target, row.kind, sender, row.stanza, t.at, row.size(), row.fact, row.raw, pendingDeletion}, &id)
	return id, added, err
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
func (t *writeTx) applyPending(ctx context.Context, chat bridge.JID, id string) error {
	name := t.pendingChat(chat)
	var rows []pendingChange
	err := t.each(ctx, `
		SELECT kind, sender, stanza, fact, raw FROM pending_changes WHERE chat = ? AND target = ?
		ORDER BY kind = ? DESC, fact ->> '$.t', id`,
		[]any{name, id, pendingDeletion}, func(found *resultSet) error {
			row := pendingChange{chat: chat, target: id}
			err := found.Scan(&row.kind, &row.sender, &row.stanza, &row.fact, &row.raw)
			rows = append(rows, row)
			return err
		})
	if err != nil || len(rows) == 0 {
		return err
	}
	if err := t.dropPending(ctx, "chat = ? AND target = ?", name, id); err != nil {
		return err
	}
	for _, row := range rows {
		fact, err := t.s.unpackPending(row)
		if err != nil {
			return err
		}
		if err := t.save(ctx, fact); err != nil {
			return err
		}
	}
	return nil
}

// applyPendingIn makes the changes that have waited in a chat for what is known
// now, its members, or that it is one with another.
func (t *writeTx) applyPendingIn(ctx context.Context, jid bridge.JID) error {
	c, found, err := t.findChat(ctx, jid)
	if err != nil || !found {
		return err
	}
	var targets []string
	err = t.each(ctx, `
		SELECT DISTINCT p.target FROM pending_changes p JOIN messages m ON m.chat = ? AND m.id = p.target WHERE p.chat = ?`,
		[]any{c.id, t.pendingChat(jid)}, func(rows *resultSet) error {
			var target string
			err := rows.Scan(&target)
			targets = append(targets, target)
			return err
		})
	if err != nil {
		return err
	}
	for _, target := range targets {
		if err := t.applyPending(ctx, jid, target); err != nil {
			return err
		}
	}
	return nil
}

// hasPendingEdit reports whether an edit waits for the real message of a placeholder.
func (t *writeTx) hasPendingEdit(ctx context.Context, chat bridge.JID, id string) (pending bool, err error) {
	_, err = t.find(ctx, "SELECT 1 FROM pending_changes WHERE chat = ? AND target = ? AND kind = ?",
		[]any{t.pendingChat(chat), id, pendingEdit}, &pending)
	return pending, err
}

// dropPendingOf removes what waits for a message of the chat under any of its ids.
func (t *writeTx) dropPendingOf(ctx context.Context, chat bridge.JID, seq int64) error {
	return t.dropPending(ctx, `chat = ?1 AND target IN (
		SELECT id FROM messages WHERE seq = ?2 UNION SELECT id FROM aliases WHERE message = ?2)`, t.pendingChat(chat), seq)
}

// dropPending removes pending change, whose texts must not stay on the disk.
func (t *writeTx) dropPending(ctx context.Context, where string, args ...any) error {
	removed, err := t.change(ctx, "DELETE FROM pending_changes WHERE "+where, args...)
	if err != nil || removed == 0 {
		return err
	}
	return t.markErased(ctx)
}
