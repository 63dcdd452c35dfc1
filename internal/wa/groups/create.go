package groups

import (
	"context"
	"fmt"
	"slices"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// storeTimeout bounds one transaction of the store.
const storeTimeout = 30 * time.Second

// callTime bounds a change of a group with all of its queries.
const callTime = 3 * time.Minute

// CreateGroup makes a group, or finds the one that an earlier try made.
//
// Errors: [bridge.CodeNotConnected] where nothing left, [bridge.CodeSendTimeout]
// where nobody knows, [bridge.CodeNotOnNetwork], [bridge.CodeRateLimited],
// [bridge.CodeSendRefused].
func (gs *Groups) CreateGroup(ctx context.Context, g bridge.NewGroup) (bridge.GroupCreated, error) {
	ctx, c, end, err := gs.begin(ctx, callTime)
	if err != nil {
		return bridge.GroupCreated{}, err
	}
	defer end()
	if g.Again {
		made, err := c.findCreated(ctx, g)
		if err != nil {
			return bridge.GroupCreated{}, err
		}
		if made != nil {
			gs.saveOwnChange(append(convert.GroupFacts(made), bridge.GroupMade{Key: g.Key, JID: convert.JID(made.JID)})...)
			return c.foundGroup(made, g), nil
		}
	}
	people, err := c.groupPeople(ctx, true, slices.DeleteFunc(slices.Clone(g.Participants), gs.isOwn))
	if err != nil {
		return bridge.GroupCreated{}, err
	}
	if !people.found() {
		return bridge.GroupCreated{}, bridge.Fail(bridge.CodeNotOnNetwork, "participants: nobody else of them is on WhatsApp; check the numbers (E.164 digits with country code)")
	}
	return c.createGroup(ctx, g, people)
}

// createGroup asks the network for a new group.
func (c *conn) createGroup(ctx context.Context, g bridge.NewGroup, people *groupPeople) (bridge.GroupCreated, error) {
	members, err := c.participantNodes(ctx, people, true)
	if err != nil {
		return bridge.GroupCreated{}, err
	}
	answer, err := c.changeGroups(ctx, types.GroupServerJID, createNode(g, members))
	if err != nil {
		return bridge.GroupCreated{}, c.createRefusal(err)
	}
	node, ok := answer.GetOptionalChildByTag("group")
	if !ok {
		return bridge.GroupCreated{}, c.gs.unanswered(fmt.Errorf("the answer to a new group has no group"))
	}
	info, err := c.ParseGroup(node)
	if err != nil {
		return bridge.GroupCreated{}, fmt.Errorf("read the answer to a new group: %w", err)
	}
	people.read(node, bridge.ParticipantAdd, false)
	c.gs.saveOwnChange(append(convert.GroupFacts(info), bridge.GroupMade{Key: g.Key, JID: convert.JID(info.JID)})...)
	c.gs.o.Log.Info().Str("chat", convert.JID(info.JID).Redacted()).Msg("group created")
	return bridge.GroupCreated{JID: convert.JID(info.JID), Name: info.Name, Participants: people.named(c.gs.o.Store)}, nil
}

// createNode returns the query for a new group, as the apps put it. Its key
// comes back in the notification of the group.
func createNode(g bridge.NewGroup, members []waBinary.Node) waBinary.Node {
	return waBinary.Node{
		Tag: "create", Attrs: waBinary.Attrs{"subject": g.Name, "key": g.Key},
		Content: append(members,
			waBinary.Node{Tag: "member_add_mode", Content: string(types.GroupMemberAddModeAllMember)},
			waBinary.Node{Tag: "ephemeral", Attrs: waBinary.Attrs{"expiration": 0}},
			waBinary.Node{Tag: "membership_approval_mode", Content: []waBinary.Node{{Tag: "group_join", Attrs: waBinary.Attrs{"state": "off"}}}},
		),
	}
}

// createRefusal names the reason why a group was not made.
func (c *conn) createRefusal(err error) error {
	switch iqCode(err) {
	case 0:
		return c.gs.unanswered(err)
	case codeBlocked:
		return bridge.Fail(bridge.CodeSendRefused, "the network does not accept this name for a group (code 406): shorten it").Because(err)
	case codeFull:
		return groupFull(err)
	}
	return c.refusedChange(err)
}

// findCreated returns the group that an earlier try made: the one whose
// notification came with the try's key, or else the one of that name which the
// account made since, and which no other call did. It is nil where there is none.
func (c *conn) findCreated(ctx context.Context, g bridge.NewGroup) (*types.GroupInfo, error) {
	if g.Made != "" {
		return c.describe(ctx, g.Made)
	}
	groups, err := c.GetJoinedGroups(ctx)
	if err != nil {
		return nil, QueryError(err)
	}
	for _, info := range groups {
		isOwn := c.gs.isOwn(convert.JID(info.OwnerJID)) || c.gs.isOwn(convert.JID(info.OwnerPN))
		if isOwn && info.Name == g.Name && !slices.Contains(g.Known, convert.JID(info.JID)) {
			return info, nil
		}
	}
	return nil, nil
}

// foundGroup returns the answer for a group that was found: who is in it was
// added.
func (c *conn) foundGroup(info *types.GroupInfo, g bridge.NewGroup) bridge.GroupCreated {
	members := make(map[bridge.JID]bridge.Participant)
	for _, p := range convert.Participants(info.Participants) {
		members[c.gs.o.Store.Canonical(p.JID)] = p
	}
	made := bridge.GroupCreated{JID: convert.JID(info.JID), Name: info.Name, Participants: []bridge.ParticipantResult{}}
	for _, asked := range g.Participants {
		person := c.gs.o.Store.Canonical(asked)
		member, isIn := members[person]
		result := bridge.ParticipantResult{JID: person, LID: member.LID, Status: bridge.ParticipantDone}
		if !isIn {
			sentence := "was not added when the group was made: add them to learn why"
			result.Status, result.Error = bridge.ParticipantRefused, &sentence
		}
		made.Participants = append(made.Participants, result)
	}
	return made
}

// saveOwnChange stores at once what the account has changed. The network will
// announce it too: a store that fails now does not make the change fail.
func (gs *Groups) saveOwnChange(facts ...bridge.Fact) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(gs.o.Background), storeTimeout)
	defer cancel()
	if err := gs.o.Store.Save(ctx, facts...); err != nil {
		gs.o.Log.Error().Err(err).Msg("a change of a group was made, but not stored")
		return
	}
	gs.fetcher.want(facts)
}
