package store

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// saveGroup replaces all that is stored of a group by what the network says. It is
// logged only where that makes a difference.
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
	if members || facts > 0 || renamed || timed {
		t.appendGroupEvent(c.id, t.at, "")
	}
}

// saveWithheld notes that there is no use in asking for a group again. It counts
// until the network describes the group.
func (t *writeTx) saveWithheld(f bridge.GroupWithheld) {
	if c, found := t.findChat(f.JID); found {
		t.Run("UPDATE groups SET withheld = 1 WHERE chat = ? AND known = 0", c.id)
	}
}

// setGroupTimer reports whether a group's disappearing-messages timer is a new one.
func (t *writeTx) setGroupTimer(chat int64, seconds uint32) bool {
	return t.Change("UPDATE chats SET timer = ?1 WHERE id = ?2 AND timer != ?1", seconds, chat) > 0
}

func (t *writeTx) personID(jid bridge.JID) any {
	if !jid.IsPerson() {
		return nil
	}
	return t.ensurePerson(jid).id
}

// appendGroupEvent logs that a group has changed, with data that the event alone
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
		changed = t.renameGroup(c.id, *f.Name) || changed
	}
	moved := t.changeMembers(c.id, f)
	if f.Expiration != nil {
		changed = t.setGroupTimer(c.id, *f.Expiration) || changed
	}
	t.countMembers(c.id)
	at := t.at
	if !f.Timestamp.IsZero() {
		at = f.Timestamp.UnixMilli()
	}
	if asking := t.changeRequests(c.id, f, at); changed || moved || asking != "" {
		t.appendGroupEvent(c.id, at, asking)
	}
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

// replaceMembers reports whether the members are others than before.
func (t *writeTx) replaceMembers(chat int64, members []bridge.Participant) bool {
	before := db.List[int64](t.Conn, "SELECT person FROM members WHERE chat = ?", chat)
	stays := make(map[int64]bool, len(members))
	changed := false
	for _, m := range members {
		p, differs := t.saveMember(chat, m, false)
		stays[p] = true
		changed = changed || differs
	}
	for _, p := range before {
		if !stays[p] {
			t.Run("DELETE FROM members WHERE chat = ? AND person = ?", chat, p)
			changed = true
		}
	}
	return changed
}

// saveMember enters a member as f says, and reports whether that is new. Other
// rights than a member has replace those, but where f only says that they joined:
// that may come again.
func (t *writeTx) saveMember(chat int64, f bridge.Participant, joined bool) (id int64, changed bool) {
	p, known := t.ensureParticipant(f)
	if !known {
		return 0, false
	}
	return p.id, t.Change(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (chat, person) DO UPDATE SET display_name = excluded.display_name,
			is_admin = excluded.is_admin, is_super_admin = excluded.is_super_admin
		WHERE NOT ?6 AND (members.display_name, members.is_admin, members.is_super_admin)
			IS NOT (excluded.display_name, excluded.is_admin, excluded.is_super_admin)`,
		chat, p.id, f.DisplayName, f.IsAdmin || f.IsSuperAdmin, f.IsSuperAdmin, joined) > 0
}

// ensureParticipant returns the person whom f names, by one identity or both.
func (t *writeTx) ensureParticipant(f bridge.Participant) (person, bool) {
	t.saveIdentity(bridge.Identity{PN: f.JID, LID: f.LID})
	jid := cmp.Or(f.JID, f.LID)
	if !jid.IsPerson() {
		return person{}, false
	}
	return t.ensurePerson(jid), true
}

// countMembers keeps the number of members on the chat, once the group is
// known: before that it would be a part of them.
func (t *writeTx) countMembers(chat int64) {
	changed := t.Change(`
		UPDATE chats SET participants = counted.members FROM (
			SELECT (SELECT count(*) FROM members WHERE chat = ?1) AS members FROM groups WHERE chat = ?1 AND known
		) AS counted
		WHERE chats.id = ?1 AND participants != counted.members`, chat)
	if changed > 0 {
		t.appendEvent(eventChatUpdated, 0, chat)
	}
}

// saveMemberLabel takes over how a member describes themselves. While it is not known
// who is in the group, a member who does so counts as one.
func (t *writeTx) saveMemberLabel(f bridge.MemberLabel) {
	if !f.Chat.IsGroup() || !f.Member.IsPerson() {
		return
	}
	c := t.ensureChat(f.Chat)
	p := t.ensurePerson(f.Member)
	t.Run(`
		INSERT INTO members (chat, person) SELECT ?1, ?2 FROM groups WHERE chat = ?1 AND NOT known
		ON CONFLICT (chat, person) DO NOTHING`, c.id, p.id)
	at := f.SetAt.UnixMilli()
	changed := t.Change("UPDATE members SET label = ?3 WHERE chat = ?1 AND person = ?2 AND label_at <= ?4 AND label != ?3", c.id, p.id, f.Label, at)
	t.Run("UPDATE members SET label_at = max(label_at, ?3) WHERE chat = ?1 AND person = ?2", c.id, p.id, at)
	if changed == 0 {
		return
	}
	t.appendGroupEvent(c.id, at, "")
}

func (t *writeTx) changeMembers(chat int64, f bridge.GroupChange) bool {
	changed := false
	for _, m := range f.Joined {
		_, joined := t.saveMember(chat, m, true)
		changed = changed || joined
	}
	for _, step := range []struct {
		members []bridge.JID
		query   string
	}{
		{f.Left, "DELETE FROM members WHERE chat = ? AND person = ?"},
		{f.Promoted, promoteMember},
		{f.Demoted, "UPDATE members SET is_admin = 0, is_super_admin = 0 WHERE chat = ? AND person = ? AND is_admin"},
	} {
		for _, jid := range step.members {
			changed = t.Change(step.query, chat, t.ensurePerson(jid).id) > 0 || changed
		}
	}
	return changed
}

// promoteMember also enters a person who was not known to be a member: only members
// are promoted.
const promoteMember = `
	INSERT INTO members (chat, person, is_admin) VALUES (?, ?, 1)
	ON CONFLICT (chat, person) DO UPDATE SET is_admin = 1 WHERE NOT is_admin`
