package read

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/people"
)

// Group returns a stored group: [bridge.CodeNotFound] if there is no such group.
func (s *Reader) Group(ctx context.Context, jid bridge.JID) (bridge.StoredGroup, error) {
	return As(ctx, s, "read a group", func(r *Snapshot) bridge.StoredGroup {
		var id int64
		r.Find("SELECT id FROM chats WHERE jid = ? AND is_group AND NOT hidden", []any{jid}, &id)
		group, found := r.group(id)
		if !found {
			r.Fail(bridge.NotFound("there is no group %s in the store", jid))
		}
		return group
	})
}

// group returns the group with a chat id, and reports whether there is one.
func (r *Snapshot) group(id int64) (g bridge.StoredGroup, found bool) {
	var owner *int64
	found = r.Find(`
		SELECT c.jid, c.name, c.message_count, c.last_message_at, c.timer,
			g.topic, g.owner, g.created_at, g.is_announce, g.is_locked, g.join_approval, g.add_mode, g.updated_at, g.picture
		FROM chats c JOIN groups g ON g.chat = c.id WHERE c.id = ?`, []any{id},
		&g.JID, &g.Name, &g.MessageCount, &g.LastMessageAt, &g.Expiration,
		&g.Topic, &owner, &g.CreatedAt, &g.IsAnnounce, &g.IsLocked, &g.JoinApproval, &g.MemberAddMode, &g.UpdatedAt, &g.PictureID)
	if owner != nil {
		g.OwnerJID = r.s.o.People.Get(*owner).JID()
	}
	g.Participants = r.members(id)
	return g, found
}

// members returns a group's members: super admins first, then admins.
func (r *Snapshot) members(chat int64) []bridge.Participant {
	members := []bridge.Participant{}
	for row := range r.Rows(`
		SELECT m.person, m.display_name, m.is_admin, m.is_super_admin, m.label FROM members m JOIN people p ON p.id = m.person
		WHERE m.chat = ? ORDER BY m.is_super_admin DESC, m.is_admin DESC, ifnull(p.pn, p.lid)`, chat) {
		var m bridge.Participant
		var id int64
		row.Scan(&id, &m.DisplayName, &m.IsAdmin, &m.IsSuperAdmin, &m.Label)
		p := r.s.o.People.Get(id)
		m.JID, m.LID, m.Username, m.DisplayName = p.JID(), p.LID, p.UsernameOrNil(), cmp.Or(p.DisplayName(), m.DisplayName)
		members = append(members, m)
	}
	return members
}

// GroupsWithoutInfo returns the groups whose description must still be requested from the network.
func (s *Reader) GroupsWithoutInfo(ctx context.Context) ([]bridge.JID, error) {
	return s.JIDs(ctx, "SELECT c.jid FROM groups g JOIN chats c ON c.id = g.chat WHERE g.known = 0 AND NOT g.withheld")
}

// addGroupData adds the requests and the changes in the data of a group's event.
func (r *Snapshot) addGroupData(event *bridge.Event, data string) {
	var named columns.GroupData
	r.Decode([]byte(data), &named)
	if named.Created != nil || named.Revoked != nil {
		event.JoinRequests = &bridge.JoinRequestChange{Created: r.asking(named.Created, &event.At), Revoked: r.asking(named.Revoked, nil)}
	}
	event.Changes.Group = r.shownChanges(named.Changes)
}

// asking returns the join requests of people. Of people whom the caller may not know, only the JID is
// shown.
func (r *Snapshot) asking(people []bridge.JID, at *bridge.Time) []bridge.JoinRequest {
	requests := make([]bridge.JoinRequest, len(people))
	for i, jid := range people {
		requests[i] = r.s.Asking(jid, at)
		if p, known := r.s.o.People.Find(jid); known && !r.knows(p) {
			requests[i] = requests[i].AsNamed()
		}
	}
	return requests
}

// Asking returns the join request of a person with their names.
func (s *Reader) Asking(jid bridge.JID, at *bridge.Time) bridge.JoinRequest {
	request := bridge.JoinRequest{JID: s.Canonical(jid), LID: s.LIDOf(jid), Username: s.UsernameOf(jid), RequestedAt: at, Named: jid}
	if p, known := s.o.People.Find(jid); known {
		request.DisplayName = p.DisplayName()
	}
	return request
}

// GroupsNamed returns the groups with a name.
func (s *Reader) GroupsNamed(ctx context.Context, name string) ([]bridge.JID, error) {
	return s.JIDs(ctx, "SELECT jid FROM chats WHERE is_group AND NOT hidden AND name = ?", name)
}

func (s *Reader) JIDs(ctx context.Context, query string, args ...any) ([]bridge.JID, error) {
	return As(ctx, s, "look up groups", func(r *Snapshot) []bridge.JID { return bridge.NotNil(sqlite.List[bridge.JID](r.Conn, query, args...)) })
}

// shownChanges returns the changes of a group with the JIDs that the caller may know, or nil.
func (r *Snapshot) shownChanges(stored *bridge.GroupChanges) *bridge.GroupChanges {
	if stored == nil {
		return nil
	}
	find, shown := people.Finder(r.find), *stored
	shown.By = find.Canonical(stored.By)
	for _, list := range []*[]bridge.JID{&shown.Added, &shown.Removed, &shown.Left, &shown.Promoted, &shown.Demoted} {
		people := make([]bridge.JID, len(*list))
		for i, jid := range *list {
			people[i] = find.Canonical(jid)
		}
		*list = people
	}
	moved := make([]bridge.NumberChange, len(stored.NumberChanged))
	copy(moved, stored.NumberChanged)
	shown.NumberChanged = moved
	return &shown
}
