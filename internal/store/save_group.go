package store

import (
	"cmp"
	"maps"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
)

// groupTx saves groups and their members.
type groupTx struct{ *writeTx }

// saveGroup replaces the stored description of a group, and logs the group if that has changed.
func (t groupTx) saveGroup(f bridge.Group) {
	if !f.JID.IsGroup() {
		return
	}
	c := t.ensureChat(f.JID)
	before, known := settingsOf(t.Conn, c.id)
	var changes bridge.GroupChanges
	wasMember := isMember(t.Conn, c.id, t.People.OwnerID())
	members := t.replaceMembers(c.id, f.Participants, &changes)
	var owner *int64
	if f.OwnerJID.IsPerson() {
		owner = new(t.EnsurePerson(f.OwnerJID).ID)
	}
	facts := t.Change(`
		UPDATE groups SET known = 1, withheld = 0, topic = ?2, owner = ?3, created_at = ?4, is_announce = ?5, is_locked = ?6, join_approval = ?7, is_community = ?8, subject = ?9,
			add_mode = ?10
		WHERE chat = ?1 AND (known, topic, owner, created_at, is_announce, is_locked, join_approval, is_community, subject, add_mode) IS NOT (1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
		c.id, f.Topic, owner, f.CreatedAt, f.IsAnnounce, f.IsLocked, f.JoinApproval, f.IsCommunity, f.Name, cmp.Or(f.MemberAddMode, bridge.AddedByAdmins))
	timed := setGroupTimer(t.Conn, c.id, f.Expiration)
	t.countMembers(c.id)
	renamed := t.nameGroup(c.id)
	if !known {
		pendingTx(t).applyPendingIn(f.JID)
	}
	if members || facts > 0 || renamed || timed {
		data := columns.GroupData{}
		switch after, _ := settingsOf(t.Conn, c.id); {
		case f.Joined && !wasMember && isMember(t.Conn, c.id, t.People.OwnerID()): // earlier changes are not by JoinedBy
			data.Changes = &bridge.GroupChanges{By: f.JoinedBy, Added: []bridge.JID{t.People.Get(t.People.OwnerID()).JID()}}
		case known:
			data.Changes = before.compare(after, &changes)
		}
		at := t.second()
		if f.Joined && !known && f.CreatedAt != nil && t.isOwn(f.JoinedBy) && t.isOwn(f.OwnerJID) { // the account has created it
			at = f.CreatedAt.UnixMilli()
		}
		t.appendGroupEvent(c.id, at, data)
	}
}

// second returns the time of a change that the network has not dated, in milliseconds. It is a whole second, as the
// network's times are: changes of the same second keep their order.
func (t groupTx) second() int64 { return t.at / 1000 * 1000 }

// isOwn reports whether a JID is the account's.
func (t groupTx) isOwn(jid bridge.JID) bool {
	return jid.IsPerson() && t.EnsurePerson(jid).ID == t.People.OwnerID()
}

// saveWithheld marks a group whose description the network refuses.
func (t groupTx) saveWithheld(f bridge.GroupWithheld) {
	if c, found := t.findChat(f.JID); found {
		t.Run("UPDATE groups SET withheld = 1 WHERE chat = ? AND known = 0", c.id)
	}
}

// setGroupTimer reports whether a group's disappearing-messages timer is a new one.
func setGroupTimer(c *sqlite.Conn, chat int64, seconds uint32) bool {
	return c.Change("UPDATE chats SET timer = ?1 WHERE id = ?2 AND timer != ?1", seconds, chat) > 0
}

// appendGroupEvent logs that a group has changed, with data that is in the event alone.
func (t groupTx) appendGroupEvent(chat, at int64, data columns.GroupData) {
	t.Run("UPDATE groups SET updated_at = max(ifnull(updated_at, 0), ?) WHERE chat = ?", at, chat)
	if data.Changes != nil {
		data.Changes.At = bridge.Millis(at)
	}
	var column string
	if data.Changes != nil || data.Created != nil || data.Revoked != nil {
		column = t.Encode(data)
	}
	t.appendEntry(read.EntryKey{Event: bridge.EventGroupUpdated, Chat: chat, Data: column})
}

func (t groupTx) saveGroupChange(f bridge.GroupChange) {
	if !f.JID.IsGroup() {
		return
	}
	c := t.ensureChat(f.JID)
	before, known := settingsOf(t.Conn, c.id)
	changes := bridge.GroupChanges{By: f.By}
	changed := t.Change(`
		UPDATE groups SET topic = ifnull(?2, topic), is_announce = ifnull(?3, is_announce), is_locked = ifnull(?4, is_locked),
			join_approval = ifnull(?5, join_approval), picture = ifnull(?6, picture), subject = ifnull(?7, subject), add_mode = ifnull(?8, add_mode)
		WHERE chat = ?1 AND (topic, is_announce, is_locked, join_approval, picture, subject, add_mode)
			IS NOT (ifnull(?2, topic), ifnull(?3, is_announce), ifnull(?4, is_locked), ifnull(?5, join_approval), ifnull(?6, picture), ifnull(?7, subject), ifnull(?8, add_mode))`,
		c.id, f.Topic, f.IsAnnounce, f.IsLocked, f.JoinApproval, f.PictureID, f.Name, f.MemberAddMode) > 0
	changed = t.changeMembers(c.id, f, &changes) || changed
	if f.Expiration != nil {
		changed = setGroupTimer(t.Conn, c.id, *f.Expiration) || changed
	}
	t.countMembers(c.id)
	changed = t.nameGroup(c.id) || changed
	at := cmp.Or(millis(f.Timestamp), t.second())
	data := t.changeRequests(c.id, f, at)
	if changed || data.Created != nil || data.Revoked != nil {
		after, _ := settingsOf(t.Conn, c.id)
		if !known { // there is nothing to compare with
			before = after
		}
		data.Changes = before.compare(after, &changes)
		t.appendGroupEvent(c.id, at, data)
	}
}

// replaceMembers reports whether the members have changed.
func (t groupTx) replaceMembers(chat int64, members []bridge.Participant, changes *bridge.GroupChanges) bool {
	before := memberRoles(t.Conn, chat)
	stays := make(map[int64]bool, len(members))
	changed := false
	for _, m := range members {
		p, differs := t.saveMember(chat, m, false)
		stays[p] = true
		changed = changed || differs
		wasAdmin, wasMember := before[p]
		isAdmin := m.IsAdmin || m.IsSuperAdmin
		switch jid := cmp.Or(m.JID, m.LID); {
		case p == 0:
		case !wasMember:
			changes.Added = append(changes.Added, jid)
		case isAdmin && !wasAdmin:
			changes.Promoted = append(changes.Promoted, jid)
		case !isAdmin && wasAdmin:
			changes.Demoted = append(changes.Demoted, jid)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(before)) {
		if !stays[p] {
			t.Run("DELETE FROM members WHERE chat = ? AND person = ?", chat, p)
			gone := t.People.Get(p)
			changes.Left = append(changes.Left, gone.JID())
			changed = true
		}
	}
	return changed
}

// saveMember adds or changes a member, and reports whether the members have changed. A notification of a
// new member may come again; then joined is set, and a stored member does not change.
func (t groupTx) saveMember(chat int64, f bridge.Participant, joined bool) (id int64, changed bool) {
	p, known := t.ensureParticipant(f)
	if !known {
		return 0, false
	}
	return p.ID, t.Change(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (chat, person) DO UPDATE SET display_name = excluded.display_name,
			is_admin = excluded.is_admin, is_super_admin = excluded.is_super_admin
		WHERE NOT ?6 AND (members.display_name, members.is_admin, members.is_super_admin)
			IS NOT (excluded.display_name, excluded.is_admin, excluded.is_super_admin)`,
		chat, p.ID, f.DisplayName, f.IsAdmin || f.IsSuperAdmin, f.IsSuperAdmin, joined) > 0
}

// ensureParticipant returns the person that f names, by one identity or both.
func (t groupTx) ensureParticipant(f bridge.Participant) (people.Person, bool) {
	t.SaveIdentity(bridge.Identity{PN: f.JID, LID: f.LID})
	jid := cmp.Or(f.JID, f.LID)
	if !jid.IsPerson() {
		return people.Person{}, false
	}
	return t.EnsurePerson(jid), true
}

// countMembers stores the number of members with the chat, if all members are known.
func (t groupTx) countMembers(chat int64) {
	t.changeChat(chat, `
		UPDATE chats SET participants = counted.members FROM (
			SELECT (SELECT count(*) FROM members WHERE chat = ?1) AS members FROM groups WHERE chat = ?1 AND known
		) AS counted
		WHERE chats.id = ?1 AND participants != counted.members`, chat)
}

// saveMemberLabel stores a member's label. If the members of the group are not known yet, the person
// becomes one.
func (t groupTx) saveMemberLabel(f bridge.MemberLabel) {
	if !f.Chat.IsGroup() || !f.Member.IsPerson() {
		return
	}
	c := t.ensureChat(f.Chat)
	p := t.EnsurePerson(f.Member)
	t.Run(`
		INSERT INTO members (chat, person) SELECT ?1, ?2 FROM groups WHERE chat = ?1 AND NOT known
		ON CONFLICT (chat, person) DO NOTHING`, c.id, p.ID)
	at := f.SetAt.UnixMilli()
	changed := t.Change("UPDATE members SET label = ?3 WHERE chat = ?1 AND person = ?2 AND label_at <= ?4 AND label != ?3", c.id, p.ID, f.Label, at)
	t.Run("UPDATE members SET label_at = max(label_at, ?3) WHERE chat = ?1 AND person = ?2", c.id, p.ID, at)
	if changed > 0 {
		t.appendGroupEvent(c.id, at, columns.GroupData{})
	}
}

// changeMembers changes the members, and adds the effective changes to changes. It reports whether there
// are any.
func (t groupTx) changeMembers(chat int64, f bridge.GroupChange, changes *bridge.GroupChanges) bool {
	changed := false
	for _, m := range f.Moved {
		if t.moveMember(chat, m) {
			changes.NumberChanged = append(changes.NumberChanged, bridge.NumberChange{From: m.From, To: m.To.JID})
			changed = true
		}
	}
	for _, m := range f.Joined {
		if _, joined := t.saveMember(chat, m, true); joined {
			changes.Added = append(changes.Added, cmp.Or(m.JID, m.LID))
			changed = true
		}
	}
	by, byKnown := t.People.Find(f.By)
	for _, step := range []struct {
		members []bridge.JID
		named   *[]bridge.JID
		query   string
	}{
		{f.Left, &changes.Removed, "DELETE FROM members WHERE chat = ? AND person = ?"},
		{f.Promoted, &changes.Promoted, `
			INSERT INTO members (chat, person, is_admin) VALUES (?, ?, 1)
			ON CONFLICT (chat, person) DO UPDATE SET is_admin = 1 WHERE NOT is_admin`}, // only members are promoted
		{f.Demoted, &changes.Demoted, "UPDATE members SET is_admin = 0, is_super_admin = 0 WHERE chat = ? AND person = ? AND is_admin"},
	} {
		for _, jid := range step.members {
			p := t.EnsurePerson(jid).ID
			if t.Change(step.query, chat, p) == 0 {
				continue
			}
			changed = true
			if named := step.named; named == &changes.Removed && (!byKnown || p == by.ID) {
				changes.Left = append(changes.Left, jid)
			} else {
				*named = append(*named, jid)
			}
		}
	}
	return changed
}

// changeRequests stores who asks to be let into a group, and returns the changes as the data
// of an event.
func (t groupTx) changeRequests(chat int64, f bridge.GroupChange, at int64) (data columns.GroupData) {
	for _, step := range []struct {
		people []bridge.Participant
		news   *[]bridge.JID
		query  string
	}{
		{f.Asked, &data.Created, `
			INSERT INTO join_requests (chat, person, at) VALUES (?1, ?2, ?3)
			ON CONFLICT (chat, person) DO UPDATE SET at = ?3 WHERE at < ?3`},
		{f.AskNoMore, &data.Revoked, "DELETE FROM join_requests WHERE chat = ?1 AND person = ?2 AND at <= ?3"},
		{f.Joined, nil, "DELETE FROM join_requests WHERE chat = ?1 AND person = ?2 AND at <= ?3"},
	} {
		for _, asking := range step.people {
			p, known := t.ensureParticipant(asking)
			if !known {
				continue
			}
			if t.Change(step.query, chat, p.ID, at) > 0 && step.news != nil {
				*step.news = append(*step.news, asking.JID)
			}
		}
	}
	return data
}

// moveMember replaces a member of a group by the person that they are now, and reports whether the
// members have changed.
func (t groupTx) moveMember(chat int64, m bridge.MovedMember) bool {
	old, known := t.People.Find(m.From)
	now, named := t.ensureParticipant(m.To)
	if !known || !named || old.ID == now.ID {
		return false
	}
	moved := t.Change(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at)
		SELECT chat, ?3, display_name, is_admin, is_super_admin, label, label_at FROM members WHERE chat = ?1 AND person = ?2
		ON CONFLICT (chat, person) DO UPDATE SET
			is_admin = max(is_admin, excluded.is_admin), is_super_admin = max(is_super_admin, excluded.is_super_admin)`, chat, old.ID, now.ID)
	return t.Change("DELETE FROM members WHERE chat = ? AND person = ?", chat, old.ID) > 0 && moved > 0
}
