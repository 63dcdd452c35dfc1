package store

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// replaceMembers reports whether the members are others than before.
func (t *writeTx) replaceMembers(chat int64, members []bridge.Participant) bool {
	before := db.List[int64](t.Conn, "SELECT person FROM members WHERE chat = ?", chat)
	stays := make(map[int64]bool, len(members))
	changed := false
	for _, m := range members {
		p, differs := t.saveMember(chat, m)
		stays[p] = true
		changed = changed || differs
	}
	for _, p := range before {
		if stays[p] {
			continue
		}
		t.Run("DELETE FROM members WHERE chat = ? AND person = ?", chat, p)
		changed = true
	}
	return changed
}

// saveMember enters a member as f says and reports whether that is new.
func (t *writeTx) saveMember(chat int64, f bridge.Participant) (int64, bool) {
	p, known := t.ensureParticipant(f)
	if !known {
		return 0, false
	}
	changed := t.Change(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (chat, person) DO UPDATE SET display_name = excluded.display_name,
			is_admin = excluded.is_admin, is_super_admin = excluded.is_super_admin
		WHERE (members.display_name, members.is_admin, members.is_super_admin)
			IS NOT (excluded.display_name, excluded.is_admin, excluded.is_super_admin)`,
		chat, p.id, f.DisplayName, f.IsAdmin || f.IsSuperAdmin, f.IsSuperAdmin)
	return p.id, changed > 0
}

// ensureParticipant returns the person whom f names, by one identity or both.
func (t *writeTx) ensureParticipant(f bridge.Participant) (person, bool) {
	t.saveIdentity(bridge.Identity{PN: f.JID, LID: f.LID})
	jid := cmp.Or(f.JID, f.LID)
	if !jid.IsPerson() {
		return person{}, false
	}
	p := t.ensurePerson(jid)
	return p, true
}

// countMembers keeps the number of members on the chat, once the group is
// known: before that it would be a part of them.
func (t *writeTx) countMembers(chat int64) {
	changed := t.Change(`
		UPDATE chats SET participants = counted.members FROM (
			SELECT (SELECT count(*) FROM members WHERE chat = ?1) AS members FROM groups WHERE chat = ?1 AND known
		) AS counted
		WHERE chats.id = ?1 AND participants != counted.members`, chat)
	if changed == 0 {
		return
	}
	t.appendEvent(eventChatUpdated, 0, chat)
}

// saveMemberLabel takes over how a member describes themselves. While it is not known
// who is in the group, whoever does so is.
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
	t.appendGroupUpdated(c.id, at)
}

func (t *writeTx) changeMembers(chat int64, f bridge.GroupChange) bool {
	changed := false
	for _, m := range f.Joined {
		joined := t.addMember(chat, m)
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
			p := t.ensurePerson(jid)
			n := t.Change(step.query, chat, p.id)
			changed = changed || n > 0
		}
	}
	return changed
}

// addMember enters a member. One who is there already keeps their rights: that they
// joined may be told again.
func (t *writeTx) addMember(chat int64, f bridge.Participant) bool {
	p, known := t.ensureParticipant(f)
	if !known {
		return false
	}
	changed := t.Change(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (chat, person) DO NOTHING`,
		chat, p.id, f.DisplayName, f.IsAdmin || f.IsSuperAdmin, f.IsSuperAdmin)
	return changed > 0
}

// promoteMember also enters whoever was not known to be a member: only members
// are promoted.
const promoteMember = `
	INSERT INTO members (chat, person, is_admin) VALUES (?, ?, 1)
	ON CONFLICT (chat, person) DO UPDATE SET is_admin = 1 WHERE NOT is_admin`
