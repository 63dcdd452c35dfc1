package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"bridged/internal/bridge"
)

// Group returns what is stored of a group: [bridge.CodeNotFound] when it is not.
func (s *Store) Group(ctx context.Context, jid bridge.JID) (bridge.StoredGroup, error) {
	var group bridge.StoredGroup
	err := s.read(ctx, func(r *readTx) (err error) {
		var id int64
		err = r.scan(ctx, "SELECT id FROM chats WHERE jid = ? AND is_group", []any{string(jid)}, &id)
		if errors.Is(err, sql.ErrNoRows) {
			return bridge.NotFound("there is no group %s in the store", jid)
		}
		if err != nil {
			return err
		}
		group, err = r.group(ctx, id)
		return err
	})
	if err != nil {
		return bridge.StoredGroup{}, fmt.Errorf("read a group: %w", err)
	}
	return group, nil
}

// group returns the group with a chat id: [sql.ErrNoRows] when there is none.
func (r *readTx) group(ctx context.Context, id int64) (bridge.StoredGroup, error) {
	var g bridge.StoredGroup
	var owner, created, updated, last sql.NullInt64
	err := r.scan(ctx, `
		SELECT c.jid, c.name, c.message_count, c.last_message_at, c.timer,
			g.topic, g.owner, g.created_at, g.is_announce, g.is_locked, g.join_approval, g.updated_at
		FROM chats c JOIN groups g ON g.chat = c.id WHERE c.id = ?`, []any{id},
		&g.JID, &g.Name, &g.MessageCount, &last, &g.Expiration,
		&g.Topic, &owner, &created, &g.IsAnnounce, &g.IsLocked, &g.JoinApproval, &updated)
	if err != nil {
		return bridge.StoredGroup{}, err
	}
	if owner.Valid {
		g.OwnerJID = r.s.people.get(owner.Int64).jid()
	}
	g.CreatedAt, g.UpdatedAt, g.LastMessageAt = timeOf(created), timeOf(updated), timeOf(last)
	g.Participants, err = r.members(ctx, id)
	return g, err
}

// members returns a group's members, those with the most rights first.
func (r *readTx) members(ctx context.Context, chat int64) ([]bridge.Participant, error) {
	members := []bridge.Participant{}
	err := r.each(ctx, "SELECT person, display_name, is_admin, is_super_admin, label FROM members WHERE chat = ?",
		[]any{chat}, func(rows *resultSet) error {
			var m bridge.Participant
			var id int64
			if err := rows.Scan(&id, &m.DisplayName, &m.IsAdmin, &m.IsSuperAdmin, &m.Label); err != nil {
				return err
			}
			p := r.s.people.get(id)
			m.JID, m.LID, m.Username, m.DisplayName = p.jid(), p.lid, p.usernameOrNil(), cmp.Or(p.displayName(), m.DisplayName)
			members = append(members, m)
			return nil
		})
	slices.SortFunc(members, func(a, b bridge.Participant) int {
		return cmp.Or(-compareBool(a.IsSuperAdmin, b.IsSuperAdmin), -compareBool(a.IsAdmin, b.IsAdmin), cmp.Compare(a.JID, b.JID))
	})
	return members, err
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// GroupsWithoutInfo returns the groups that are known by their JID alone: the
// network has still to be asked for their names and members. Those of which it
// says nothing are not among them.
func (s *Store) GroupsWithoutInfo(ctx context.Context) ([]bridge.JID, error) {
	groups := []bridge.JID{}
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT c.jid FROM groups g JOIN chats c ON c.id = g.chat WHERE g.known = 0 AND NOT g.withheld", nil,
			func(rows *resultSet) error {
				var jid bridge.JID
				err := rows.Scan(&jid)
				groups = append(groups, jid)
				return err
			})
	})
	if err != nil {
		return nil, fmt.Errorf("list groups without details: %w", err)
	}
	return groups, nil
}
