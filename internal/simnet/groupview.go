package simnet

import (
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/content"
)

// GroupView is a group as a phone shows it, from its notifications alone.
type GroupView struct {
	Name, Topic      string
	Announce, Locked bool
	Ephemeral        uint32
	AddedByAll       bool
	Members, Admins  []types.JID // as the group addresses them
	Link             string      // if a notification has announced a new one
}

// Group returns the phone's view of a group. Forget clears it.
func (p *Phone) Group(jid types.JID) GroupView {
	var view GroupView
	for _, event := range p.Events() {
		view.apply(jid, event)
	}
	return view
}

// WaitGroup waits until the phone's view of a group is as wanted.
func (p *Phone) WaitGroup(ctx context.Context, jid types.JID, wanted func(GroupView) bool) (GroupView, error) {
	for {
		seen, view := p.Events(), GroupView{}
		for _, event := range seen {
			view.apply(jid, event)
		}
		if wanted(view) {
			return view, nil
		}
		index := 0
		_, err := p.Event(ctx, func(any) bool { index++; return index > len(seen) })
		if err != nil {
			return view, err
		}
	}
}

// Has reports whether the view lists the phone's owner as a member.
func (v GroupView) Has(p *Phone) bool { return named(v.Members, p) }

// HasAdmin reports whether the view lists the phone's owner as an admin.
func (v GroupView) HasAdmin(p *Phone) bool { return named(v.Admins, p) }

func named(list []types.JID, p *Phone) bool {
	return slices.Contains(list, p.LID()) || slices.Contains(list, p.PN())
}

func (v *GroupView) apply(jid types.JID, event any) {
	switch e := event.(type) {
	case *events.JoinedGroup:
		if e.JID != jid {
			return
		}
		*v = GroupView{Name: e.Name, Topic: e.Topic, Announce: e.IsAnnounce, Locked: e.IsLocked, Ephemeral: e.DisappearingTimer, AddedByAll: e.MemberAddMode == types.GroupMemberAddModeAllMember}
		for _, p := range e.Participants {
			v.Members = append(v.Members, p.JID)
			if p.IsAdmin {
				v.Admins = append(v.Admins, p.JID)
			}
		}
	case *events.GroupInfo:
		if e.JID == jid {
			v.change(e)
		}
	}
}

func (v *GroupView) change(e *events.GroupInfo) {
	if e.Name != nil {
		v.Name = e.Name.Name
	}
	if e.Topic != nil {
		v.Topic = e.Topic.Topic
	}
	if e.Announce != nil {
		v.Announce = e.Announce.IsAnnounce
	}
	if e.Locked != nil {
		v.Locked = e.Locked.IsLocked
	}
	if e.Ephemeral != nil {
		v.Ephemeral = e.Ephemeral.DisappearingTimer
	}
	for _, other := range e.UnknownChanges {
		if mode, ok := other.Content.([]byte); ok && other.Tag == "member_add_mode" {
			v.AddedByAll = string(mode) == string(types.GroupMemberAddModeAllMember)
		}
	}
	if e.NewInviteLink != nil {
		v.Link = *e.NewInviteLink
	}
	among := func(list []types.JID) func(types.JID) bool {
		return func(jid types.JID) bool { return slices.Contains(list, jid) }
	}
	v.Members = append(slices.DeleteFunc(v.Members, among(slices.Concat(e.Leave, e.Join))), e.Join...)
	v.Admins = append(slices.DeleteFunc(v.Admins, among(slices.Concat(e.Leave, e.Demote, e.Promote))), e.Promote...)
}

// SetLabel sets the person's description of themselves in a group; "" removes it. The other members get it in a message of its own.
func (p *Phone) SetLabel(ctx context.Context, g *Group, label string) error {
	_, err := p.Send(ctx, g.jid, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_GROUP_MEMBER_LABEL_CHANGE.Enum(), MemberLabel: content.LabelAt(label, time.Now()),
	}})
	return err
}

// Labelled adds the sender's label in the group to the message, as the apps do.
func Labelled(label string, since time.Time) SendOption {
	return func(o *sendOptions) { o.info().MemberLabel = content.LabelAt(label, since) }
}
