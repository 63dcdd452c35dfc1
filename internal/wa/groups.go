package wa

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// groupOf converts the library's group.
func groupOf(info *types.GroupInfo) bridge.Group {
	g := bridge.Group{
		JID: toBridge(info.JID), Name: info.Name, Topic: info.Topic, OwnerJID: ownerOf(info),
		IsAnnounce: info.IsAnnounce, IsLocked: info.IsLocked, JoinApproval: info.IsJoinApprovalRequired, Participants: participantsOf(info.Participants),
	}
	if !info.GroupCreated.IsZero() {
		created := bridge.At(info.GroupCreated)
		g.CreatedAt = &created
	}
	if info.IsEphemeral {
		g.Expiration = info.DisappearingTimer
	}
	return g
}

func ownerOf(info *types.GroupInfo) bridge.JID {
	if pn := toBridge(info.OwnerPN); pn != "" {
		return pn
	}
	return toBridge(info.OwnerJID)
}

func participantsOf(list []types.GroupParticipant) []bridge.Participant {
	participants := make([]bridge.Participant, 0, len(list))
	for _, p := range list {
		if p.Error != 0 { // a new group's answer names whoever was not added
			continue
		}
		participant := bridge.Participant{JID: toBridge(p.PhoneNumber), LID: toBridge(p.LID), DisplayName: p.DisplayName,
			IsAdmin: p.IsAdmin || p.IsSuperAdmin, IsSuperAdmin: p.IsSuperAdmin}
		switch own := toBridge(p.JID); {
		case own.IsLID() && participant.LID == "":
			participant.LID = own
		case own.Server() == bridge.ServerUser && participant.JID == "":
			participant.JID = own
		}
		if participant.JID == "" {
			participant.JID = participant.LID
		}
		participants = append(participants, participant)
	}
	return participants
}

// groupFacts returns a whole group: who is who in it, then the group.
func groupFacts(info *types.GroupInfo) []bridge.Fact {
	g := groupOf(info)
	if g.JID == "" {
		return nil
	}
	var facts []bridge.Fact
	if identity, ok := identityOf(info.OwnerPN, info.OwnerJID); ok {
		facts = append(facts, identity)
	}
	for _, p := range g.Participants {
		if p.LID != "" && p.JID != p.LID {
			facts = append(facts, bridge.Identity{PN: p.JID, LID: p.LID})
		}
	}
	return append(facts, g)
}

// joinedFacts returns a group that is new to the account, and the key of the
// call that made it, if one did.
func joinedFacts(e *events.JoinedGroup) []bridge.Fact {
	facts := groupFacts(&e.GroupInfo)
	if jid := toBridge(e.JID); e.CreateKey != "" && jid != "" {
		facts = append(facts, bridge.GroupMade{Key: e.CreateKey, JID: jid})
	}
	return facts
}

// groupChangeFacts returns a notification's change. The account's own leaving ends
// the knowledge that it may send there.
func (l *link) groupChangeFacts(e *events.GroupInfo) []bridge.Fact {
	jid := toBridge(e.JID)
	if jid == "" {
		return nil
	}
	change := bridge.GroupChange{JID: jid, Timestamp: bridge.At(e.Timestamp), Left: jids(e.Leave), Promoted: jids(e.Promote), Demoted: jids(e.Demote)}
	for _, joined := range jids(e.Join) {
		change.Joined = append(change.Joined, bridge.Participant{JID: joined})
	}
	if e.Name != nil {
		change.Name = &e.Name.Name
	}
	if e.Topic != nil {
		change.Topic = &e.Topic.Topic
	}
	if e.Locked != nil {
		change.IsLocked = &e.Locked.IsLocked
	}
	if e.Announce != nil {
		change.IsAnnounce = &e.Announce.IsAnnounce
	}
	if e.MembershipApprovalMode != nil {
		change.JoinApproval = &e.MembershipApprovalMode.IsJoinApprovalRequired
	}
	if e.Ephemeral != nil {
		seconds := e.Ephemeral.DisappearingTimer
		change.Expiration = &seconds
	}
	if e.Delete != nil { // for everybody; all that is left is that the account is no member
		pn, lid := l.m.own()
		change.Left = append(change.Left, slices.DeleteFunc([]bridge.JID{pn, lid}, func(j bridge.JID) bool { return j == "" })...)
	}
	readUnknownChanges(e, &change)
	l.members.Delete(jid)
	l.modes.Delete(jid)
	var facts []bridge.Fact
	if e.Sender != nil && e.SenderPN != nil {
		if identity, ok := identityOf(*e.Sender, *e.SenderPN); ok {
			facts = append(facts, identity)
		}
	}
	return append(facts, change)
}

func jids(list []types.JID) []bridge.JID {
	var out []bridge.JID
	for _, j := range list {
		if jid := toBridge(j); jid != "" {
			out = append(out, jid)
		}
	}
	return out
}

// LiveGroup asks the network for a group's metadata.
func (m *Manager) LiveGroup(ctx context.Context, jid bridge.JID) (*bridge.Group, error) {
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	info, err := l.cli.GetGroupInfo(ctx, toWA(jid))
	if err != nil {
		return nil, groupError(err)
	}
	l.saveAnswered(ctx)
	g := groupOf(info)
	for i := range g.Participants {
		g.Participants[i].JID = m.store.Canonical(g.Participants[i].JID)
	}
	g.OwnerJID = m.store.Canonical(g.OwnerJID)
	return &g, nil
}

// groupError names the reason why a group's metadata cannot be read.
func groupError(err error) error {
	var iq *whatsmeow.IQError
	switch {
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound),
		errors.As(err, &iq) && (iq.Code == 403 || iq.Code == 404):
		return bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group").Because(err)
	case errors.As(err, &iq) && iq.Code == 429:
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "the network limits queries about groups for now", Err: err, RetryAfter: time.Minute}
	}
	return bridge.NotConnected("the network did not answer about the group: try again in a moment").Because(err)
}

// addressedByLID reports whether a group's members know each other by LID. The
// library keeps what it learned of a group; asking it costs a query only the
// first time.
func (l *link) addressedByLID(ctx context.Context, jid bridge.JID) bool {
	if mode, known := l.modes.Load(jid); known {
		return mode == types.AddressingModeLID
	}
	info, err := l.cli.GetGroupInfo(ctx, toWA(jid))
	if err != nil {
		return false
	}
	l.modes.Store(jid, info.AddressingMode)
	return info.AddressingMode == types.AddressingModeLID
}
