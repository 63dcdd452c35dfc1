package evolution

import (
	"slices"

	"bridged/internal/bridge"
)

// The events of groups.
const (
	eventGroups       = "groups.update"
	eventParticipants = "group-participants.update"
)

// participantsChange is the data of Baileys' event group-participants.update.
type participantsChange struct {
	ID           bridge.JID   `json:"id"`
	Author       *bridge.JID  `json:"author"` // null if unknown
	Action       string       `json:"action"` // add, remove, promote or demote
	Participants []bridge.JID `json:"participants"`
}

// groupSettings has the changed settings of a group, as in Baileys' event groups.update.
type groupSettings struct {
	ID            bridge.JID  `json:"id"`
	Author        *bridge.JID `json:"author"`
	Subject       *string     `json:"subject,omitempty"`
	Desc          *string     `json:"desc,omitempty"`
	Announce      *bool       `json:"announce,omitempty"`
	Restrict      *bool       `json:"restrict,omitempty"`
	JoinApproval  *bool       `json:"joinApprovalMode,omitempty"`
	MemberAddMode *bool       `json:"memberAddMode,omitempty"` // whether everyone adds members
	Ephemeral     *uint32     `json:"ephemeralDuration,omitempty"`
}

// groupChanged returns an event for each kind of change, or none if the changes are unknown.
func groupChanged(e bridge.Event) (events []event) {
	c := e.Changes.Group
	if c == nil || e.Group == nil {
		return nil
	}
	var author *bridge.JID
	if c.By != "" {
		author = &c.By
	}
	for _, step := range []struct {
		action string
		people []bridge.JID
	}{{"add", c.Added}, {"remove", slices.Concat(c.Removed, c.Left)}, {"promote", c.Promoted}, {"demote", c.Demoted}} {
		if len(step.people) > 0 {
			events = append(events, event{name: eventParticipants, data: participantsChange{e.Group.JID, author, step.action, step.people}})
		}
	}
	settings := groupSettings{
		Subject: newOf(c.Subject), Desc: newOf(c.Topic), Announce: newOf(c.IsAnnounce), Restrict: newOf(c.IsLocked),
		JoinApproval: newOf(c.JoinApproval), Ephemeral: newOf(c.Expiration),
	}
	if c.MemberAddMode != nil {
		settings.MemberAddMode = new(c.MemberAddMode.New == bridge.AddedByEveryone)
	}
	if settings != (groupSettings{}) {
		settings.ID, settings.Author = e.Group.JID, author
		events = append(events, event{name: eventGroups, data: []groupSettings{settings}})
	}
	return events
}

// newOf returns the new value of a change, or nil if there is no change.
func newOf[T comparable](c *bridge.Change[T]) *T {
	if c == nil {
		return nil
	}
	return &c.New
}
