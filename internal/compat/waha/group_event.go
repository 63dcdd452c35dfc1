package waha

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/compat"
	"bridged/internal/webhook/format"
)

// The events of groups (groups.events.dto.ts in WAHA).
const (
	eventGroupJoin    = "group.v2.join"  // of the account
	eventGroupLeave   = "group.v2.leave" // of the account
	eventGroupMembers = "group.v2.participants"
	eventGroupUpdate  = "group.v2.update"
)

// groupMember is a member in an event of a group.
type groupMember struct {
	ID   string `json:"id"`
	Role string `json:"role"` // left, participant, admin or superadmin
}

// groupChanged returns an event for each kind of change, or none if the changes are unknown. _data has the
// changes and their author in the API's form.
func groupChanged(d format.Delivery) (events []event) {
	e, changes := d.Event, d.Event.Changes.Group
	if changes == nil || e.Group == nil {
		return nil
	}
	add := func(name string, payload map[string]any) {
		payload["timestamp"], payload["_data"] = e.At.UnixMilli(), changes
		if payload["group"] == nil {
			payload["group"] = map[string]any{"id": e.Group.JID}
		}
		events = append(events, event{name, payload})
	}
	isOwn := func(jid bridge.JID) bool { return d.Own.User != nil && jid == d.Own.User.JID }
	for _, step := range []struct {
		kind, role string
		people     []bridge.JID
		ofAccount  string // the event if the account is among the people
	}{
		{"join", "participant", changes.Added, eventGroupJoin},
		{"leave", "left", slices.Concat(changes.Removed, changes.Left), eventGroupLeave},
		{"promote", "admin", changes.Promoted, ""},
		{"demote", "participant", changes.Demoted, ""},
	} {
		members := []groupMember{}
		for _, jid := range step.people {
			switch {
			case !isOwn(jid) || step.ofAccount == "":
				members = append(members, groupMember{compat.AsChat(jid), step.role})
			case step.ofAccount == eventGroupJoin:
				add(eventGroupJoin, map[string]any{"group": groupIn(e.Group.Group)})
			default:
				add(eventGroupLeave, map[string]any{})
			}
		}
		if len(members) > 0 {
			add(eventGroupMembers, map[string]any{"type": step.kind, "participants": members})
		}
	}
	if shown := groupSettings(e.Group.JID, changes); shown != nil {
		add(eventGroupUpdate, map[string]any{"group": shown})
	}
	return events
}

// groupIn returns a whole group in the form of events.
func groupIn(g bridge.Group) map[string]any {
	members := make([]groupMember, len(g.Participants))
	for i, p := range g.Participants {
		members[i] = groupMember{compat.AsChat(p.JID), compat.Role(p, "participant")}
	}
	return map[string]any{
		"id": g.JID, "subject": g.Name, "description": g.Topic, "membersCanSendMessages": !g.IsAnnounce,
		"newMembersApprovalRequired": g.JoinApproval, "participants": members,
	}
}

// groupSettings returns the changed settings of a group, or nil if none has changed.
func groupSettings(jid bridge.JID, c *bridge.GroupChanges) map[string]any {
	if c.Subject == nil && c.Topic == nil && c.IsAnnounce == nil && c.JoinApproval == nil && c.IsLocked == nil && c.Expiration == nil {
		return nil
	}
	shown := map[string]any{"id": jid}
	if c.Subject != nil {
		shown["subject"] = c.Subject.New
	}
	if c.Topic != nil {
		shown["description"] = c.Topic.New
	}
	if c.IsAnnounce != nil {
		shown["membersCanSendMessages"] = !c.IsAnnounce.New
	}
	if c.JoinApproval != nil {
		shown["newMembersApprovalRequired"] = c.JoinApproval.New
	}
	return shown
}
