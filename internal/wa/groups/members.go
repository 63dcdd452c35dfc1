package groups

import (
	"context"
	"fmt"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// tagDecision is the request that approves or rejects join requests.
const tagDecision = "membership_requests_action"

// ChangeParticipants adds, removes, promotes or demotes members, or approves or rejects join
// requests, and returns the result for each person.
func (gs *Groups) ChangeParticipants(ctx context.Context, change bridge.ParticipantsChange) ([]bridge.ParticipantResult, error) {
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
	if err != nil {
		return nil, err
	}
	defer end()
	if change.Action == bridge.ParticipantRemove && slices.ContainsFunc(change.Participants, gs.isOwn) {
		return nil, bridge.Invalid("participants must not contain the account itself: leave the group with POST /api/groups/{jid}/leave")
	}
	if err := c.InGroup(ctx, change.Group); err != nil {
		return nil, err
	}
	people, err := c.groupPeople(ctx, c.AddressedByLID(ctx, change.Group), change.Participants)
	if err != nil {
		return nil, err
	}
	if !people.found() {
		return people.results, nil
	}
	adding := change.Action == bridge.ParticipantAdd
	named, err := c.participantNodes(ctx, people, adding)
	if err != nil {
		return nil, err
	}
	node, path := waBinary.Node{Tag: string(change.Action), Content: named}, []string{string(change.Action)}
	if change.Action.IsDecision() {
		node, path = waBinary.Node{Tag: tagDecision, Content: []waBinary.Node{node}}, append([]string{tagDecision}, path...)
	}
	answer, err := c.changeGroups(ctx, convert.WireJID(change.Group), node)
	if err != nil {
		return nil, c.refusal(ctx, change.Group, err)
	}
	entries, ok := answer.GetOptionalChildByTag(path...)
	if !ok {
		return nil, c.gs.unanswered(fmt.Errorf("the network's answer to a change of members has no people"))
	}
	people.read(entries, change.Action, change.Again)
	c.membersChanged(change, people)
	return people.named(gs.o.Store), nil
}

// membersChanged stores a change of members before the network announces it.
func (c *conn) membersChanged(change bridge.ParticipantsChange, people *groupPeople) {
	members, wire := people.done()
	if len(members) == 0 {
		return
	}
	fact := bridge.GroupChange{JID: change.Group}
	noted := &events.GroupInfo{JID: convert.WireJID(change.Group)}
	switch change.Action {
	case bridge.ParticipantAdd, bridge.ParticipantApprove:
		fact.Joined, noted.Join = members, wire
	case bridge.ParticipantReject:
		fact.AskNoMore = members
	case bridge.ParticipantRemove:
		fact.Left, noted.Leave = jidsOf(members), wire
	case bridge.ParticipantPromote:
		fact.Promoted = jidsOf(members)
	case bridge.ParticipantDemote:
		fact.Demoted = jidsOf(members)
	}
	c.NoteMembers(noted)
	c.gs.saveOwnChange(fact)
}

func jidsOf(members []bridge.Participant) []bridge.JID {
	out := make([]bridge.JID, len(members))
	for i, member := range members {
		out[i] = member.JID
	}
	return out
}

// LeaveGroup leaves a group. again means that an earlier attempt may have left it.
func (gs *Groups) LeaveGroup(ctx context.Context, jid bridge.JID, again bool) error {
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
	if err != nil {
		return err
	}
	defer end()
	err = c.InGroup(ctx, jid)
	if bridge.CodeOf(err) == bridge.CodeNotAChat {
		return bridge.Fail(bridge.CodeNotAChat, "leave a community on the phone: leaving it leaves all of its groups")
	}
	if err == nil {
		if _, err = c.changeGroups(ctx, types.GroupServerJID, waBinary.Node{
			Tag: "leave", Content: []waBinary.Node{{Tag: "group", Attrs: waBinary.Attrs{"id": convert.WireJID(jid)}}},
		}); err != nil {
			err = c.refusal(ctx, jid, err)
		}
	}
	if err != nil && (!again || bridge.CodeOf(err) != bridge.CodeNotInGroup) {
		return err
	}
	c.ForgetGroup(jid)
	own, _ := gs.o.Own()
	gs.saveOwnChange(bridge.GroupChange{JID: jid, Left: []bridge.JID{own}})
	return nil
}
