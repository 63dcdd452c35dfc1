package shell

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// findGroup returns a group by its JID or exact name.
func (s *Shell) findGroup(ctx context.Context, name string) (bridge.JID, error) {
	jid, err := s.find(ctx, name)
	if err == nil && !jid.IsGroup() {
		err = Usage("%s is not a group: list them with: bridged groups", name)
	}
	return jid, err
}

// findPeople returns people by JID, phone number, exact name or @username.
func (s *Shell) findPeople(ctx context.Context, who []string) (people []bridge.JID, err error) {
	for _, name := range who {
		person, err := s.findPerson(ctx, name)
		if err != nil {
			return nil, err
		}
		people = append(people, person)
	}
	return people, nil
}

// CreateGroup creates a group with people, and prints its JID.
func (s *Shell) CreateGroup(ctx context.Context, name string, who []string, key string) error {
	people, err := s.findPeople(ctx, who)
	if err != nil {
		return err
	}
	made, answer, err := changeOnce(ctx, s, key, func(api *client.Client, key string) (bridge.GroupCreated, error) {
		return api.CreateGroup(ctx, name, people, key)
	})
	if err != nil {
		return err
	}
	if s.JSON {
		if err := s.printJSON(answer.Body); err != nil {
			return err
		}
	} else if err := s.printCreated(made, answer); err != nil {
		return err
	}
	return failed(made.Participants, "added")
}

// printCreated prints the JID of a new group alone, for scripts, and notes who was not added.
func (s *Shell) printCreated(made bridge.GroupCreated, answer client.Answer) error {
	for _, p := range made.Participants {
		if p.Error == nil {
			continue
		}
		if err := s.note("%s was not added: %s%s", p.JID, Printable(*p.Error), inviteOf(p)); err != nil {
			return err
		}
	}
	if err := s.note("Created the group %s.%s", Printable(made.Name), earlier(answer)); err != nil {
		return err
	}
	return s.print("%s\n", made.JID)
}

// inviteOf describes the invitation of a person who may not be added, or returns "".
func inviteOf(p bridge.ParticipantResult) string {
	if p.Invite == nil {
		return ""
	}
	return fmt.Sprintf(" (invitation code %s, until %s)", Printable(p.Invite.Code), p.Invite.ExpiresAt)
}

// failed returns an error if something was not done for a person.
func failed(results []bridge.ParticipantResult, what string) error {
	count := 0
	for _, p := range results {
		if p.Error != nil {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d people were not %s", count, len(results), what)
}

// actions has the past participle of each action.
var actions = map[bridge.ParticipantAction]string{
	bridge.ParticipantAdd: "added", bridge.ParticipantRemove: "removed", bridge.ParticipantPromote: "promoted",
	bridge.ParticipantDemote: "demoted", bridge.ParticipantApprove: "approved", bridge.ParticipantReject: "rejected",
}

// ChangeMembers adds, removes, promotes or demotes people, or decides about their requests to join, and
// prints the result for each. It fails if it was not done for one of them.
func (s *Shell) ChangeMembers(ctx context.Context, group string, action bridge.ParticipantAction, who []string, key string) error {
	jid, err := s.findGroup(ctx, group)
	if err != nil {
		return err
	}
	people, err := s.findPeople(ctx, who)
	if err != nil {
		return err
	}
	results, answer, err := changeOnce(ctx, s, key, func(api *client.Client, key string) ([]bridge.ParticipantResult, error) {
		if action.IsDecision() {
			return api.DecideJoinRequests(ctx, jid, action, people, key)
		}
		return api.ChangeParticipants(ctx, jid, action, people, key)
	})
	if err != nil {
		return err
	}
	if err := s.printResults(answer, results); err != nil {
		return err
	}
	return failed(results, actions[action])
}

func (s *Shell) printResults(answer client.Answer, results []bridge.ParticipantResult) error {
	if s.JSON {
		return s.printJSON(answer.Body)
	}
	columns := []column{{title: "JID"}, {title: "RESULT"}, {title: "WHY", flexible: true}}
	return list(s, all(results), 0, "", columns, func(p bridge.ParticipantResult) []string {
		why := ""
		if p.Error != nil {
			why = *p.Error + inviteOf(p)
		}
		return []string{string(p.JID), string(p.Status), why}
	})
}

// EditGroup changes the settings of a group.
func (s *Shell) EditGroup(ctx context.Context, group string, patch bridge.GroupPatch, key string) error {
	if patch == (bridge.GroupPatch{}) {
		return Usage("say what to change, as in --subject 'A new name'")
	}
	return s.makeChangeOf(ctx, s.findGroup, group, key, "Changed %s.", func(api *client.Client, jid bridge.JID, key string) error {
		_, err := api.ChangeGroup(ctx, jid, patch, key)
		return err
	})
}

// SetGroupPicture makes a file the picture of a group.
func (s *Shell) SetGroupPicture(ctx context.Context, group, path, key string) error {
	return s.makeChangeOf(ctx, s.findGroup, group, key, "Changed the picture of %s.", func(api *client.Client, jid bridge.JID, key string) error {
		return withFile(path, func(file io.Reader) error { return api.SetGroupPicture(ctx, jid, file, key) })
	})
}

// RemoveGroupPicture removes the picture of a group.
func (s *Shell) RemoveGroupPicture(ctx context.Context, group, key string) error {
	return s.makeChangeOf(ctx, s.findGroup, group, key, "Removed the picture of %s.", func(api *client.Client, jid bridge.JID, key string) error {
		return api.RemoveGroupPicture(ctx, jid, key)
	})
}

// LeaveGroup leaves a group.
func (s *Shell) LeaveGroup(ctx context.Context, group, key string) error {
	return s.makeChangeOf(ctx, s.findGroup, group, key, "Left %s.", func(api *client.Client, jid bridge.JID, key string) error {
		return api.LeaveGroup(ctx, jid, key)
	})
}

// GroupLink prints the invite link of a group. With reset it revokes the link and prints the new one.
func (s *Shell) GroupLink(ctx context.Context, group, key string, reset bool) error {
	jid, err := s.findGroup(ctx, group)
	if err != nil {
		return err
	}
	var link bridge.GroupLink
	var answer client.Answer
	if reset {
		link, answer, err = changeOnce(ctx, s, key, func(api *client.Client, key string) (bridge.GroupLink, error) {
			return api.RevokeGroupLink(ctx, jid, key)
		})
	} else {
		link, err = s.API.Answering(&answer).GroupLink(ctx, jid)
	}
	if err != nil {
		return err
	}
	if s.JSON {
		return s.printJSON(answer.Body)
	}
	return s.print("%s\n", Printable(link.Link))
}

// InvitedGroup prints the group that an invite link leads to.
func (s *Shell) InvitedGroup(ctx context.Context, link string) error {
	code := strings.TrimPrefix(strings.TrimSpace(link), bridge.InviteLinkPrefix)
	var answer client.Answer
	g, err := s.API.Answering(&answer).InvitedGroup(ctx, code)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(answer.Body)
	}
	approval := ""
	if g.JoinApproval {
		approval = "an admin has to approve"
	}
	return s.properties([][2]string{
		{"Name", g.Name},
		{"JID", string(g.JID)},
		{"Description", g.Topic},
		{"Members", strconv.Itoa(g.Participants)},
		{"Owner", string(g.OwnerJID)},
		{"Created", s.when(g.CreatedAt)},
		{"Joining", approval},
	})
}

// JoinGroup joins a group with its link, and prints its JID.
func (s *Shell) JoinGroup(ctx context.Context, link, key string) error {
	return s.join(ctx, key, func(api *client.Client, key string) (bridge.GroupJoin, error) {
		return api.JoinGroup(ctx, link, key)
	})
}

// JoinInvited joins a group with the invitation in a message, and prints its JID.
func (s *Shell) JoinInvited(ctx context.Context, by Target) error {
	chat, err := s.chatOf(ctx, by)
	if err != nil {
		return err
	}
	return s.join(ctx, by.Key, func(api *client.Client, key string) (bridge.GroupJoin, error) {
		return api.JoinInvited(ctx, chat, by.Message, key)
	})
}

func (s *Shell) join(ctx context.Context, key string, do func(api *client.Client, key string) (bridge.GroupJoin, error)) error {
	join, answer, err := changeOnce(ctx, s, key, do)
	switch {
	case err != nil:
		return err
	case s.JSON:
		return s.printJSON(answer.Body)
	}
	did := "Joined the group."
	if join.Status == bridge.GroupPending {
		did = "An admin of the group has to approve."
	}
	if err := s.note("%s%s", did, earlier(answer)); err != nil {
		return err
	}
	return s.print("%s\n", join.JID)
}

// JoinRequests prints the requests to join a group.
func (s *Shell) JoinRequests(ctx context.Context, group string) error {
	jid, err := s.findGroup(ctx, group)
	if err != nil {
		return err
	}
	requests, err := s.API.JoinRequests(ctx, jid)
	if err != nil {
		return err
	}
	columns := []column{{title: "REQUESTED"}, {title: "NAME", most: 32, flexible: true}, {title: "JID"}, {title: "USERNAME"}}
	return list(s, all(requests), 0, "Nobody asks to join.", columns, func(r bridge.JoinRequest) []string {
		return []string{s.when(r.RequestedAt), senderOf(r.DisplayName, r.JID), string(r.JID), atName(r.Username)}
	})
}
