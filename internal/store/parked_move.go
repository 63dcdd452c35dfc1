package store

import (
	"context"

	"bridged/internal/bridge"
)

// mergeParked moves what waits in the chat with one person to another's, and
// has what the first has sent bear the other's name.
func (t *writeTx) mergeParked(ctx context.Context, from, into int64) error {
	if err := t.moveParked(ctx, "chat", parkedPerson(from), parkedPerson(into)); err != nil {
		return err
	}
	one, _ := t.people.get(from)
	other, _ := t.people.get(into)
	return t.renameParked(ctx, one.jid(), other.jid())
}

// renameParked has what waits bear the present name of its sender: a deletion takes
// back what was parked under that name.
func (t *writeTx) renameParked(ctx context.Context, from, into bridge.JID) error {
	return t.moveParked(ctx, "sender", string(from), string(into))
}

// moveParked changes the chat or the sender of parked changes. As where they are
// parked under one name, the last of a kind counts, and a deletion takes the
// others of its sender.
func (t *writeTx) moveParked(ctx context.Context, column, from, into string) error {
	same := map[string]string{"chat": "sender", "sender": "chat"}[column]
	err := t.unpark(ctx, `id IN (
		SELECT iif(a.fact ->> '$.t' > b.fact ->> '$.t', b.id, a.id)
		FROM parked a JOIN parked b USING (target, kind, stanza, `+same+`)
		WHERE a.`+column+` = ? AND b.`+column+` = ?)`, from, into)
	if err != nil {
		return err
	}
	moved, err := t.change(ctx, "UPDATE parked SET "+column+" = ? WHERE "+column+" = ?", into, from)
	if err != nil || moved == 0 {
		return err
	}
	return t.unpark(ctx, column+` = ?1 AND kind != ?2 AND EXISTS (
		SELECT 1 FROM parked d
		WHERE d.chat = parked.chat AND d.target = parked.target AND d.sender = parked.sender AND d.kind = ?2)`,
		into, parkedDeletion)
}
