package store

import (
	"bridged/internal/bridge"
)

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
