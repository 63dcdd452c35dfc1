package store

import (
	"bridged/internal/bridge"
	"cmp"
	"context"
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
	members, err := t.replaceMembers(ctx, c.id, f.Participants)
	if err != nil {
		return err
	}
	owner, err := t.personID(ctx, f.OwnerJID)
	if err != nil {
		return err
	}
	facts, err := t.change(ctx, `
		UPDATE groups SET known = 1, topic = ?2, owner = ?3, created_at = ?4, is_announce = ?5, is_locked = ?6
		WHERE chat = ?1 AND (known, topic, owner, created_at, is_announce, is_locked) IS NOT (1, ?2, ?3, ?4, ?5, ?6)`,
		c.id, f.Topic, owner, millisColumn(f.CreatedAt), f.IsAnnounce, f.IsLocked)
	if err != nil {
		return err
	}
	renamed, err := t.renameGroup(ctx, c.id, f.Name)
	if err != nil {
		return err
	}
	if err := t.run(ctx, "UPDATE chats SET timer = ? WHERE id = ?", f.Expiration, c.id); err != nil {
		return err
	}
	if err := t.countMembers(ctx, c.id); err != nil {
		return err
	}
	if !members && facts == 0 && !renamed {
		return nil
	}
	return t.appendGroupUpdated(ctx, c.id, t.at)
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
	err := t.run(ctx, "UPDATE groups SET updated_at = max(ifnull(updated_at, 0), ?) WHERE chat = ?", at, chat)
	if err != nil {
		return err
	}
	return t.appendEvent(ctx, eventGroupUpdated, 0, chat)
}

// renameGroup says whether the name is a new one. A group without a subject
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

// replaceMembers says whether the members are others than before.
func (t *writeTx) replaceMembers(ctx context.Context, chat int64, members []bridge.Participant) (bool, error) {
	before, err := t.ids(ctx, "SELECT person FROM members WHERE chat = ?", chat)
	if err != nil {
		return false, err
	}
	stays := make(map[int64]bool, len(members))
	changed := false
	for _, m := range members {
		p, differs, err := t.saveMember(ctx, chat, m)
		if err != nil {
			return false, err
		}
		stays[p] = true
		changed = changed || differs
	}
	for _, p := range before {
		if stays[p] {
			continue
		}
		if err := t.run(ctx, "DELETE FROM members WHERE chat = ? AND person = ?", chat, p); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// saveMember enters a member as f says and says whether that is new.
func (t *writeTx) saveMember(ctx context.Context, chat int64, f bridge.Participant) (int64, bool, error) {
	p, known, err := t.ensureParticipant(ctx, f)
	if err != nil || !known {
		return 0, false, err
	}
	changed, err := t.change(ctx, `
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (chat, person) DO UPDATE SET display_name = excluded.display_name,
			is_admin = excluded.is_admin, is_super_admin = excluded.is_super_admin
		WHERE (members.display_name, members.is_admin, members.is_super_admin)
			IS NOT (excluded.display_name, excluded.is_admin, excluded.is_super_admin)`,
		chat, p.id, f.DisplayName, f.IsAdmin || f.IsSuperAdmin, f.IsSuperAdmin)
	return p.id, changed > 0, err
}

// ensureParticipant is the person whom f names, by one identity or both.
func (t *writeTx) ensureParticipant(ctx context.Context, f bridge.Participant) (person, bool, error) {
	if err := t.saveIdentity(ctx, bridge.Identity{PN: f.JID, LID: f.LID}); err != nil {
		return person{}, false, err
	}
	jid := cmp.Or(f.JID, f.LID)
	if !jid.IsPerson() {
		return person{}, false, nil
	}
	p, err := t.ensurePerson(ctx, jid)
	return p, true, err
}

// countMembers keeps the number of members on the chat, once the group is
// known: before that it would be a part of them.
func (t *writeTx) countMembers(ctx context.Context, chat int64) error {
	changed, err := t.change(ctx, `
		UPDATE chats SET participants = counted.members FROM (
			SELECT (SELECT count(*) FROM members WHERE chat = ?1) AS members FROM groups WHERE chat = ?1 AND known
		) AS counted
		WHERE chats.id = ?1 AND participants != counted.members`, chat)
	if err != nil || changed == 0 {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, chat)
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
		if err := t.run(ctx, "UPDATE chats SET timer = ? WHERE id = ?", *f.Expiration, c.id); err != nil {
			return err
		}
	}
	if err := t.countMembers(ctx, c.id); err != nil {
		return err
	}
	if !changed && !moved {
		return nil
	}
	at := t.at
	if !f.Timestamp.IsZero() {
		at = f.Timestamp.UnixMilli()
	}
	return t.appendGroupUpdated(ctx, c.id, at)
}

func (t *writeTx) changeGroupFacts(ctx context.Context, chat int64, f bridge.GroupChange) (bool, error) {
	changed, err := t.change(ctx, `
		UPDATE groups SET topic = ifnull(?2, topic), is_announce = ifnull(?3, is_announce), is_locked = ifnull(?4, is_locked)
		WHERE chat = ?1 AND (topic, is_announce, is_locked)
			IS NOT (ifnull(?2, topic), ifnull(?3, is_announce), ifnull(?4, is_locked))`,
		chat, column(f.Topic), column(f.IsAnnounce), column(f.IsLocked))
	return changed > 0, err
}

// column is the value for SQL of a field that may be unset.
func column[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

func (t *writeTx) changeMembers(ctx context.Context, chat int64, f bridge.GroupChange) (bool, error) {
	changed := false
	for _, m := range f.Joined {
		joined, err := t.addMember(ctx, chat, m)
		if err != nil {
			return false, err
		}
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
			p, err := t.ensurePerson(ctx, jid)
			if err != nil {
				return false, err
			}
			n, err := t.change(ctx, step.query, chat, p.id)
			if err != nil {
				return false, err
			}
			changed = changed || n > 0
		}
	}
	return changed, nil
}

// addMember enters a member. One who is there already keeps their rights: that they
// joined may be told again.
func (t *writeTx) addMember(ctx context.Context, chat int64, f bridge.Participant) (bool, error) {
	p, known, err := t.ensureParticipant(ctx, f)
	if err != nil || !known {
		return false, err
	}
	changed, err := t.change(ctx, `
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (chat, person) DO NOTHING`,
		chat, p.id, f.DisplayName, f.IsAdmin || f.IsSuperAdmin, f.IsSuperAdmin)
	return changed > 0, err
}

// promoteMember also enters whoever was not known to be a member: only members
// are promoted.
const promoteMember = `
	INSERT INTO members (chat, person, is_admin) VALUES (?, ?, 1)
	ON CONFLICT (chat, person) DO UPDATE SET is_admin = 1 WHERE NOT is_admin`
