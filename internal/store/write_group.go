package store

import (
	"bridged/internal/bridge"
)

// saveGroup replaces all that is stored of a group by what the network says. It is
// told only where that makes a difference.
func (t *writeTx) saveGroup(f bridge.Group) {
	if !f.JID.IsGroup() {
		return
	}
	c := t.ensureChat(f.JID)
	var known bool
	t.Find("SELECT known FROM groups WHERE chat = ?", []any{c.id}, &known)
	members := t.replaceMembers(c.id, f.Participants)
	owner := t.personID(f.OwnerJID)
	facts := t.Change(`
		UPDATE groups SET known = 1, withheld = 0, topic = ?2, owner = ?3, created_at = ?4, is_announce = ?5, is_locked = ?6, join_approval = ?7
		WHERE chat = ?1 AND (known, topic, owner, created_at, is_announce, is_locked, join_approval) IS NOT (1, ?2, ?3, ?4, ?5, ?6, ?7)`,
		c.id, f.Topic, owner, f.CreatedAt, f.IsAnnounce, f.IsLocked, f.JoinApproval)
	renamed := t.renameGroup(c.id, f.Name)
	timed := t.setGroupTimer(c.id, f.Expiration)
	t.countMembers(c.id)
	if !known {
		t.applyPendingIn(f.JID)
	}
	if !members && facts == 0 && !renamed && !timed {
		return
	}
	t.appendGroupUpdated(c.id, t.at)
}

// saveWithheld notes that there is no use in asking for a group again. It counts
// until the network tells of the group.
func (t *writeTx) saveWithheld(f bridge.GroupWithheld) {
	c, found := t.findChat(f.JID)
	if !found {
		return
	}
	t.Run("UPDATE groups SET withheld = 1 WHERE chat = ? AND known = 0", c.id)
}

// setGroupTimer reports whether a group's disappearing-messages timer is a new one.
func (t *writeTx) setGroupTimer(chat int64, seconds uint32) bool {
	changed := t.Change("UPDATE chats SET timer = ?1 WHERE id = ?2 AND timer != ?1", seconds, chat)
	return changed > 0
}

func (t *writeTx) personID(jid bridge.JID) any {
	if !jid.IsPerson() {
		return nil
	}
	p := t.ensurePerson(jid)
	return p.id
}

func (t *writeTx) appendGroupUpdated(chat, at int64) {
	t.appendGroupEvent(chat, at, "")
}

// appendGroupEvent tells that a group has changed, with data that the event alone
// has.
func (t *writeTx) appendGroupEvent(chat, at int64, data string) {
	t.Run("UPDATE groups SET updated_at = max(ifnull(updated_at, 0), ?) WHERE chat = ?", at, chat)
	t.appendEntry(entryKey{event: eventGroupUpdated, chat: chat, data: data})
}

// renameGroup reports whether the name is a new one. A group without a subject
// keeps the name that it is listed under.
func (t *writeTx) renameGroup(chat int64, name string) bool {
	if name == "" {
		return false
	}
	changed := t.Change("UPDATE chats SET name = ?1, folded_name = ?2 WHERE id = ?3 AND name != ?1",
		name, fold(name), chat)
	if changed == 0 {
		return false
	}
	t.appendEvent(eventChatUpdated, 0, chat)
	return true
}

// saveGroupChange applies what a notification says; what it does not mention stays.
func (t *writeTx) saveGroupChange(f bridge.GroupChange) {
	if !f.JID.IsGroup() {
		return
	}
	c := t.ensureChat(f.JID)
	changed := t.changeGroupFacts(c.id, f)
	if f.Name != nil {
		renamed := t.renameGroup(c.id, *f.Name)
		changed = changed || renamed
	}
	moved := t.changeMembers(c.id, f)
	if f.Expiration != nil {
		timed := t.setGroupTimer(c.id, *f.Expiration)
		changed = changed || timed
	}
	t.countMembers(c.id)
	at := t.at
	if !f.Timestamp.IsZero() {
		at = f.Timestamp.UnixMilli()
	}
	asking := t.changeRequests(c.id, f, at)
	if !changed && !moved && asking == "" {
		return
	}
	t.appendGroupEvent(c.id, at, asking)
}

func (t *writeTx) changeGroupFacts(chat int64, f bridge.GroupChange) bool {
	changed := t.Change(`
		UPDATE groups SET topic = ifnull(?2, topic), is_announce = ifnull(?3, is_announce), is_locked = ifnull(?4, is_locked),
			join_approval = ifnull(?5, join_approval)
		WHERE chat = ?1 AND (topic, is_announce, is_locked, join_approval)
			IS NOT (ifnull(?2, topic), ifnull(?3, is_announce), ifnull(?4, is_locked), ifnull(?5, join_approval))`,
		chat, f.Topic, f.IsAnnounce, f.IsLocked, f.JoinApproval)
	return changed > 0
}
