package store

import (
	"context"

	"bridged/internal/bridge"
)

// saveGroup replaces all that is stored of a group by what the network says. It is
// told only where that makes a difference.
func (t *writeTx) saveGroup(ctx context.Context, f bridge.Group) error {
	if !f.JID.IsGroup() {
		return nil
	}
	c, err := t.ensureChat(ctx, f.JID)
	if err != nil {
		return err
	}
	var known bool
	if _, err := t.find(ctx, "SELECT known FROM groups WHERE chat = ?", []any{c.id}, &known); err != nil {
		return err
	}
	members, err := t.replaceMembers(ctx, c.id, f.Participants)
	if err != nil {
		return err
	}
	owner, err := t.personID(ctx, f.OwnerJID)
	if err != nil {
		return err
	}
	facts, err := t.change(ctx, `
		UPDATE groups SET known = 1, withheld = 0, topic = ?2, owner = ?3, created_at = ?4, is_announce = ?5, is_locked = ?6, join_approval = ?7
		WHERE chat = ?1 AND (known, topic, owner, created_at, is_announce, is_locked, join_approval) IS NOT (1, ?2, ?3, ?4, ?5, ?6, ?7)`,
		c.id, f.Topic, owner, millisColumn(f.CreatedAt), f.IsAnnounce, f.IsLocked, f.JoinApproval)
	if err != nil {
		return err
	}
	renamed, err := t.renameGroup(ctx, c.id, f.Name)
	if err != nil {
		return err
	}
	timed, err := t.setGroupTimer(ctx, c.id, f.Expiration)
	if err != nil {
		return err
	}
	if err := t.countMembers(ctx, c.id); err != nil {
		return err
	}
	if !known {
		if err := t.applyPendingIn(ctx, f.JID); err != nil {
			return err
		}
	}
	if !members && facts == 0 && !renamed && !timed {
		return nil
	}
	return t.appendGroupUpdated(ctx, c.id, t.at)
}

// saveWithheld notes that there is no use in asking for a group again. It counts
// until the network tells of the group.
func (t *writeTx) saveWithheld(ctx context.Context, f bridge.GroupWithheld) error {
	c, found, err := t.findChat(ctx, f.JID)
	if err != nil || !found {
		return err
	}
	return t.run(ctx, "UPDATE groups SET withheld = 1 WHERE chat = ? AND known = 0", c.id)
}

// setGroupTimer reports whether a group's disappearing-messages timer is a new one.
func (t *writeTx) setGroupTimer(ctx context.Context, chat int64, seconds uint32) (bool, error) {
	changed, err := t.change(ctx, "UPDATE chats SET timer = ?1 WHERE id = ?2 AND timer != ?1", seconds, chat)
	return changed > 0, err
}

func (t *writeTx) personID(ctx context.Context, jid bridge.JID) (any, error) {
	if !jid.IsPerson() {
		return nil, nil
	}
	p, err := t.ensurePerson(ctx, jid)
	return p.id, err
}

func millisColumn(moment *bridge.Time) any {
	if moment == nil || moment.IsZero() {
		return nil
	}
	return moment.UnixMilli()
}

func (t *writeTx) appendGroupUpdated(ctx context.Context, chat, at int64) error {
	return t.appendGroupEvent(ctx, chat, at, "")
}

// appendGroupEvent tells that a group has changed, with data that the event alone
// has.
func (t *writeTx) appendGroupEvent(ctx context.Context, chat, at int64, data string) error {
	err := t.run(ctx, "UPDATE groups SET updated_at = max(ifnull(updated_at, 0), ?) WHERE chat = ?", at, chat)
	if err != nil {
		return err
	}
	return t.appendEntry(ctx, entryKey{event: eventGroupUpdated, chat: chat, data: data})
}

// renameGroup reports whether the name is a new one. A group without a subject
// keeps the name that it is listed under.
func (t *writeTx) renameGroup(ctx context.Context, chat int64, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	changed, err := t.change(ctx, "UPDATE chats SET name = ?1, folded_name = ?2 WHERE id = ?3 AND name != ?1",
		name, fold(name), chat)
	if err != nil || changed == 0 {
		return false, err
	}
	return true, t.appendEvent(ctx, eventChatUpdated, 0, chat)
}

// saveGroupChange applies what a notification says; what it does not mention stays.
func (t *writeTx) saveGroupChange(ctx context.Context, f bridge.GroupChange) error {
	if !f.JID.IsGroup() {
		return nil
	}
	c, err := t.ensureChat(ctx, f.JID)
	if err != nil {
		return err
	}
	changed, err := t.changeGroupFacts(ctx, c.id, f)
	if err != nil {
		return err
	}
	if f.Name != nil {
		renamed, err := t.renameGroup(ctx, c.id, *f.Name)
		if err != nil {
			return err
		}
		changed = changed || renamed
	}
	moved, err := t.changeMembers(ctx, c.id, f)
	if err != nil {
		return err
	}
	if f.Expiration != nil {
		timed, err := t.setGroupTimer(ctx, c.id, *f.Expiration)
		if err != nil {
			return err
		}
		changed = changed || timed
	}
	if err := t.countMembers(ctx, c.id); err != nil {
		return err
	}
	at := t.at
	if !f.Timestamp.IsZero() {
		at = f.Timestamp.UnixMilli()
	}
	asking, err := t.changeRequests(ctx, c.id, f, at)
	if err != nil || !changed && !moved && asking == "" {
		return err
	}
	return t.appendGroupEvent(ctx, c.id, at, asking)
}

func (t *writeTx) changeGroupFacts(ctx context.Context, chat int64, f bridge.GroupChange) (bool, error) {
	changed, err := t.change(ctx, `
		UPDATE groups SET topic = ifnull(?2, topic), is_announce = ifnull(?3, is_announce), is_locked = ifnull(?4, is_locked),
			join_approval = ifnull(?5, join_approval)
		WHERE chat = ?1 AND (topic, is_announce, is_locked, join_approval)
			IS NOT (ifnull(?2, topic), ifnull(?3, is_announce), ifnull(?4, is_locked), ifnull(?5, join_approval))`,
		chat, column(f.Topic), column(f.IsAnnounce), column(f.IsLocked), column(f.JoinApproval))
	return changed > 0, err
}

// column returns the value for SQL of a field that may be unset.
func column[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}
