package store

import (
	"cmp"
	"context"
	"slices"

	"bridged/internal/bridge"
)

// Group returns what is stored of a group: [bridge.CodeNotFound] when it is not.
func (s *Store) Group(ctx context.Context, jid bridge.JID) (bridge.StoredGroup, error) {
	return readAs(ctx, s, "read a group", func(r *readTx) bridge.StoredGroup {
		var id int64
		r.Find("SELECT id FROM chats WHERE jid = ? AND is_group", []any{jid}, &id)
		group, found := r.group(id)
		if !found {
			r.Fail(bridge.NotFound("there is no group %s in the store", jid))
		}
		return group
	})
}

// group returns the group with a chat id, and reports whether there is one.
func (r *readTx) group(id int64) (g bridge.StoredGroup, found bool) {
	var owner *int64
	found = r.Find(`
		SELECT c.jid, c.name, c.message_count, c.last_message_at, c.timer,
			g.topic, g.owner, g.created_at, g.is_announce, g.is_locked, g.join_approval, g.updated_at
		FROM chats c JOIN groups g ON g.chat = c.id WHERE c.id = ?`, []any{id},
		&g.JID, &g.Name, &g.MessageCount, &g.LastMessageAt, &g.Expiration,
		&g.Topic, &owner, &g.CreatedAt, &g.IsAnnounce, &g.IsLocked, &g.JoinApproval, &g.UpdatedAt)
	if owner != nil {
		g.OwnerJID = r.s.people.get(*owner).jid()
	}
	g.Participants = r.members(id)
	return g, found
}

// members returns a group's members, those with the most rights first.
func (r *readTx) members(chat int64) []bridge.Participant {
	members := []bridge.Participant{}
	for row := range r.Rows("SELECT person, display_name, is_admin, is_super_admin, label FROM members WHERE chat = ?", chat) {
		var m bridge.Participant
		var id int64
		row.Scan(&id, &m.DisplayName, &m.IsAdmin, &m.IsSuperAdmin, &m.Label)
		p := r.s.people.get(id)
		m.JID, m.LID, m.Username, m.DisplayName = p.jid(), p.lid, p.usernameOrNil(), cmp.Or(p.displayName(), m.DisplayName)
		members = append(members, m)
	}
	rank := func(m bridge.Participant) int {
		switch {
		case m.IsSuperAdmin:
			return 0
		case m.IsAdmin:
			return 1
		}
		return 2
	}
	slices.SortFunc(members, func(a, b bridge.Participant) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.JID, b.JID))
	})
	return members
}

// GroupsWithoutInfo returns the groups that are known by their JID alone: the
// network has still to be asked for their names and members. Those of which it
// says nothing are not among them.
func (s *Store) GroupsWithoutInfo(ctx context.Context) ([]bridge.JID, error) {
	return s.jids(ctx, "SELECT c.jid FROM groups g JOIN chats c ON c.id = g.chat WHERE g.known = 0 AND NOT g.withheld")
}

// askingData is the data of an event of a group, about those who ask to be let in.
// They are named as the network named them: reading finds who that is today.
type askingData struct {
	Created []bridge.JID `json:"created,omitempty"`
	Revoked []bridge.JID `json:"revoked,omitempty"`
}

// changeRequests notes who asks to be let into a group since a moment, and who does
// so no more, and returns the data of an event with what of it is new; empty
// for nothing. Whoever is in asks no more.
func (t *writeTx) changeRequests(chat int64, f bridge.GroupChange, at int64) string {
	var data askingData
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
			if t.Change(step.query, chat, p.id, at) > 0 && step.news != nil {
				*step.news = append(*step.news, asking.JID)
			}
		}
	}
	if data.Created == nil && data.Revoked == nil {
		return ""
	}
	return t.Encode(data)
}

// joinRequests returns who an event's data names, as far as the reader may know
// them.
func (r *readTx) joinRequests(data string, at bridge.Time) *bridge.JoinRequestChange {
	var named askingData
	r.Decode([]byte(data), &named)
	return &bridge.JoinRequestChange{Created: r.asking(named.Created, &at), Revoked: r.asking(named.Revoked, nil)}
}

// asking returns [Store.Asking] of some people, as far as the reader may know them.
func (r *readTx) asking(people []bridge.JID, at *bridge.Time) []bridge.JoinRequest {
	requests := make([]bridge.JoinRequest, len(people))
	for i, jid := range people {
		requests[i] = r.s.Asking(jid, at)
		if p, known := r.s.people.find(jid); known && !r.knows(p) {
			requests[i] = requests[i].AsNamed()
		}
	}
	return requests
}

// Asking returns the request of a person to be let into a group, with all that is
// known of them.
func (s *Store) Asking(jid bridge.JID, at *bridge.Time) bridge.JoinRequest {
	request := bridge.JoinRequest{JID: s.Canonical(jid), LID: s.LIDOf(jid), Username: s.UsernameOf(jid), RequestedAt: at, Named: jid}
	if p, known := s.people.find(jid); known {
		request.DisplayName = p.displayName()
	}
	return request
}
