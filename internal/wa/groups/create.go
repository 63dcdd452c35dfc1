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

const (
	storeTimeout  = 30 * time.Second // of one transaction
	changeTimeout = 3 * time.Minute  // of a change of a group with all of its queries
)

// CreateGroup creates a group, or finds the group that an earlier attempt created. Errors:
// [bridge.CodeNotConnected] if nothing was sent, [bridge.CodeSendTimeout] if the group may exist,
// [bridge.CodeNotOnNetwork], [bridge.CodeRateLimited], [bridge.CodeSendRefused].
func (gs *Groups) CreateGroup(ctx context.Context, g bridge.NewGroup) (bridge.GroupCreated, error) {
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
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
		return bridge.GroupCreated{}, bridge.Fail(bridge.CodeNotOnNetwork, "none of the participants is on WhatsApp; check the numbers (E.164 digits with country code)")
	}
	return c.createGroup(ctx, g, people)
}

// createGroup asks the network for a new group.
func (c *conn) createGroup(ctx context.Context, g bridge.NewGroup, people *groupPeople) (bridge.GroupCreated, error) {
	members, err := c.participantNodes(ctx, people, true)
	if err != nil {
		return bridge.GroupCreated{}, err
	}
	answer, err := c.changeGroups(ctx, types.GroupServerJID, waBinary.Node{ // as the apps do; the notification of the group has the key, too
		Tag: "create", Attrs: waBinary.Attrs{"subject": g.Name, "key": g.Key},
		Content: append(members,
			waBinary.Node{Tag: "member_add_mode", Content: string(types.GroupMemberAddModeAllMember)},
			waBinary.Node{Tag: "ephemeral", Attrs: waBinary.Attrs{"expiration": 0}},
			waBinary.Node{Tag: "membership_approval_mode", Content: []waBinary.Node{{Tag: "group_join", Attrs: waBinary.Attrs{"state": "off"}}}},
		),
	})
	if err != nil {
		if iqCode(err) == codeBlocked {
			err = bridge.Fail(bridge.CodeSendRefused, "the network does not accept this name for a group (code 406): shorten it").Because(err)
			return bridge.GroupCreated{}, err
		}
		return bridge.GroupCreated{}, c.refusedChange(err)
	}
	node, ok := answer.GetOptionalChildByTag("group")
	if !ok {
		return bridge.GroupCreated{}, c.gs.unanswered(fmt.Errorf("the network's answer to a new group has no group"))
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

// findCreated returns the group that an earlier attempt created, or nil: the group whose
// notification had the attempt's key, or else the group of that name which the account has
// created since then and which no other call has returned.
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

// foundGroup returns the answer for a group that an earlier attempt created.
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
			result.Status, result.Error = bridge.ParticipantRefused, new("was not added when the group was created: add them to see the reason")
		}
		made.Participants = append(made.Participants, result)
	}
	return made
}

// saveOwnChange stores a change at once. The network announces the change, too, so an error of
// the store does not make the change fail.
func (gs *Groups) saveOwnChange(facts ...bridge.Fact) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(gs.o.Background), storeTimeout)
	defer cancel()
	own, _ := gs.o.Own()
	for i, fact := range facts {
		switch f := fact.(type) {
		case bridge.GroupChange:
			f.By = own
			facts[i] = f
		case bridge.Group: // that the account created or joined
			f.Joined, f.JoinedBy = true, own
			facts[i] = f
		}
	}
	if err := gs.o.Store.Save(ctx, facts...); err != nil {
		gs.o.Log.Error().Err(err).Msg("a group was changed, but the change cannot be stored")
		return
	}
	gs.Want(facts)
}
