package api

import (
	"context"
	"encoding/json"
	"slices"

	"bridged/internal/api/content"
	"bridged/internal/bridge"
)

const (
	maxParticipants = 1023 // of the largest group, not counting the account
)

// GroupAdmin changes groups. again marks the repeat of a call that ended without an answer.
type GroupAdmin interface {
	// CreateGroup creates a group, or finds the group that an earlier attempt created.
	CreateGroup(ctx context.Context, g bridge.NewGroup) (bridge.GroupCreated, error)
	// ChangeGroup changes the fields that differ, and returns their names.
	ChangeGroup(ctx context.Context, jid bridge.JID, patch bridge.GroupPatch) (changed []string, err error)
	// GroupPicture returns the id of a group's picture; empty if it has none.
	GroupPicture(ctx context.Context, jid bridge.JID) (id string, err error)
	// SetGroupPicture sets a group's picture to a JPEG, or removes it if picture is nil, and returns
	// its id. before is the id before an earlier attempt, nil on the first attempt.
	SetGroupPicture(ctx context.Context, jid bridge.JID, picture []byte, before *string) (id string, err error)
	// ChangeParticipants changes members, or answers requests to join.
	ChangeParticipants(ctx context.Context, change bridge.ParticipantsChange) ([]bridge.ParticipantResult, error)
	JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error)
	GroupLink(ctx context.Context, jid bridge.JID) (bridge.GroupLink, error)
	// InvitedGroup describes the group of a link.
	InvitedGroup(ctx context.Context, code string) (bridge.InvitedGroup, error)
	// RevokeGroupLink replaces the link. before is the code before an earlier attempt, if any.
	RevokeGroupLink(ctx context.Context, jid bridge.JID, before string) (bridge.GroupLink, error)
	JoinGroup(ctx context.Context, code string, again bool) (bridge.GroupJoin, error)
	JoinInvited(ctx context.Context, m bridge.Message, again bool) (bridge.GroupJoin, error)
	LeaveGroup(ctx context.Context, jid bridge.JID, again bool) error
}

func createGroup(in *input) (any, error) {
	var req struct {
		Name         string   `json:"name"`
		Participants []string `json:"participants"`
	}
	body := in.body(&req, strict)
	if in.err == nil {
		in.err = content.CheckGroupName(req.Name)
	}
	people, _ := in.participants(req.Participants) // the caller may see all
	return requestOnce(in, body, keyedRequest{
		plan: func(ctx context.Context) (any, error) { return in.Store.GroupsNamed(ctx, req.Name) },
		act: func(ctx context.Context, c attempt) (any, error) {
			group := bridge.NewGroup{Name: req.Name, Participants: people, Key: c.ID, Again: c.again, Made: c.Chat}
			if err := in.knownGroups(ctx, c, &group); err != nil {
				return nil, err
			}
			made, err := in.Account.CreateGroup(ctx, group)
			return struct {
				OK bool `json:"ok"`
				bridge.GroupCreated
			}{true, made}, err
		},
	})
}

// knownGroups adds the groups that an earlier attempt cannot have created: groups that existed before,
// and groups that other calls created.
func (s *server) knownGroups(ctx context.Context, c attempt, group *bridge.NewGroup) error {
	if !c.again {
		return nil
	}
	if err := json.Unmarshal(c.Plan, &group.Known); err != nil {
		return err
	}
	others, err := s.Store.GroupsMadeElse(ctx, c.ID)
	group.Known = append(group.Known, others...)
	return err
}

// participants is [input.people] for a list that must not be empty.
func (q *input) participants(values []string) (people, unseen []bridge.JID) {
	people, unseen = q.people("participants", values)
	if len(people) == 0 || len(values) > maxParticipants {
		q.refuse("participants must hold 1 to %d people", maxParticipants)
	}
	return people, unseen
}

func updateGroup(in *input) (any, error) {
	jid := in.pathGroup()
	var patch bridge.GroupPatch
	body := in.body(&patch, strict)
	keep(in, patch, content.CheckGroupPatch(patch))
	return requestOnce(in, body, keyedRequest{chat: jid, act: func(ctx context.Context, _ attempt) (any, error) {
		changed, err := in.Account.ChangeGroup(ctx, jid, patch)
		return struct {
			OK      bool       `json:"ok"`
			JID     bridge.JID `json:"jid"`
			Changed []string   `json:"changed"`
		}{true, jid, bridge.NotNil(changed)}, err
	}})
}

func changeParticipants(in *input) (any, error) {
	return changePeople(in, "action must be add, remove, promote or demote",
		bridge.ParticipantAdd, bridge.ParticipantRemove, bridge.ParticipantPromote, bridge.ParticipantDemote)
}

func decideJoinRequests(in *input) (any, error) {
	return changePeople(in, "action must be approve or reject", bridge.ParticipantApprove, bridge.ParticipantReject)
}

// changePeople changes members or answers requests to join, with one of some actions.
func changePeople(in *input, otherwise string, actions ...bridge.ParticipantAction) (any, error) {
	jid := in.pathGroup()
	var req struct {
		Action       bridge.ParticipantAction `json:"action"`
		Participants []string                 `json:"participants"`
	}
	body := in.body(&req, strict)
	if !slices.Contains(actions, req.Action) {
		in.refuse("%s", otherwise)
	}
	people, unseen := in.participants(req.Participants)
	return requestOnce(in, body, keyedRequest{chat: jid, act: func(ctx context.Context, c attempt) (any, error) {
		results, err := in.Account.ChangeParticipants(ctx, bridge.ParticipantsChange{
			Group: jid, Action: req.Action, Participants: people, Again: c.again,
		})
		in.nameAsAsked(ctx, unseen, people, results)
		return struct {
			OK           bool                       `json:"ok"`
			JID          bridge.JID                 `json:"jid"`
			Action       bridge.ParticipantAction   `json:"action"`
			Participants []bridge.ParticipantResult `json:"participants"`
		}{true, jid, req.Action, bridge.NotNil(results)}, err
	}})
}

// nameAsAsked shows non-members in the results under the JID that the caller used, unless they
// have joined one of the caller's chats.
func (s *server) nameAsAsked(ctx context.Context, unseen, asked []bridge.JID, results []bridge.ParticipantResult) {
	outside, err := s.outsiders(ctx, unseen...)
	if err != nil { // the change was made
		outside = unseen
	}
	for i := range min(len(asked), len(results)) {
		if jid := asked[i]; slices.Contains(outside, jid) {
			results[i].JID, results[i].LID = jid, ""
			if jid.IsLID() {
				results[i].LID = jid
			}
		}
	}
}
