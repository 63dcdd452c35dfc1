package store

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
)

// replaceMembers reports whether the members are others than before.
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

// saveMember enters a member as f says and reports whether that is new.
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

// ensureParticipant returns the person whom f names, by one identity or both.
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

// saveMemberLabel takes over how a member describes themselves. While it is not known
// who is in the group, whoever does so is.
func (t *writeTx) saveMemberLabel(ctx context.Context, f bridge.MemberLabel) error {
	if !f.Chat.IsGroup() || !f.Member.IsPerson() {
		return nil
	}
	c, err := t.ensureChat(ctx, f.Chat)
	if err != nil {
		return err
	}
	p, err := t.ensurePerson(ctx, f.Member)
	if err != nil {
		return err
	}
	err = t.run(ctx, `
		INSERT INTO members (chat, person) SELECT ?1, ?2 FROM groups WHERE chat = ?1 AND NOT known
		ON CONFLICT (chat, person) DO NOTHING`, c.id, p.id)
	if err != nil {
		return err
	}
	at := f.SetAt.UnixMilli()
	changed, err := t.change(ctx, "UPDATE members SET label = ?3 WHERE chat = ?1 AND person = ?2 AND label_at <= ?4 AND label != ?3", c.id, p.id, f.Label, at)
	if err != nil {
		return err
	}
	err = t.run(ctx, "UPDATE members SET label_at = max(label_at, ?3) WHERE chat = ?1 AND person = ?2", c.id, p.id, at)
	if err != nil || changed == 0 {
		return err
	}
	return t.appendGroupUpdated(ctx, c.id, at)
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
