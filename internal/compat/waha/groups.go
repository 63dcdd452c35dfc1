package waha

import (
	"io"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// group is a group in the form of the engine GOWS.
type group struct {
	JID           bridge.JID   `json:"JID"`
	OwnerJID      bridge.JID   `json:"OwnerJID"`
	Name          string       `json:"Name"`
	Topic         string       `json:"Topic"`
	IsLocked      bool         `json:"IsLocked"`
	IsAnnounce    bool         `json:"IsAnnounce"`
	IsEphemeral   bool         `json:"IsEphemeral"`
	Timer         uint32       `json:"DisappearingTimer"`
	JoinApproval  bool         `json:"IsJoinApprovalRequired"`
	MemberAddMode string       `json:"MemberAddMode"`
	GroupCreated  *bridge.Time `json:"GroupCreated"`
	Participants  []member     `json:"Participants"`
}

type member struct {
	JID          bridge.JID `json:"JID"`
	LID          bridge.JID `json:"LID"`
	PhoneNumber  bridge.JID `json:"PhoneNumber"`
	IsAdmin      bool       `json:"IsAdmin"`
	IsSuperAdmin bool       `json:"IsSuperAdmin"`
	DisplayName  string     `json:"DisplayName"`
	Error        int        `json:"Error"`
}

func showGroup(g bridge.Group) group {
	shown := group{
		JID: g.JID, OwnerJID: g.OwnerJID, Name: g.Name, Topic: g.Topic, IsLocked: g.IsLocked, IsAnnounce: g.IsAnnounce, IsEphemeral: g.Expiration > 0,
		Timer: g.Expiration, JoinApproval: g.JoinApproval, GroupCreated: g.CreatedAt, Participants: []member{}, MemberAddMode: "admin_add",
	}
	if g.MemberAddMode == bridge.AddedByEveryone {
		shown.MemberAddMode = "all_member_add"
	}
	for _, p := range g.Participants {
		one := member{JID: p.JID, LID: p.LID, IsAdmin: p.IsAdmin || p.IsSuperAdmin, IsSuperAdmin: p.IsSuperAdmin, DisplayName: p.DisplayName}
		if !p.JID.IsLID() {
			one.PhoneNumber = p.JID
		}
		shown.Participants = append(shown.Participants, one)
	}
	return shown
}

// ofGroup returns the handler of a route whose path names a group.
func ofGroup(handle func(c *compat.Call, group bridge.JID) (any, error)) compat.Handler {
	return func(c *compat.Call) (any, error) {
		jid, err := compat.Recipient(c.PathValue("group"))
		if err == nil && !jid.IsGroup() {
			err = bridge.Invalid("%q is not a group", bridge.Beginning(c.PathValue("group"), 60))
		}
		if err != nil {
			return nil, err
		}
		return handle(c, jid)
	}
}

// inGroup returns the handler of a route whose path names a group and that has a body.
func inGroup[In any](handle func(c *compat.Call, group bridge.JID, in In) (any, error)) compat.Handler {
	return compat.Reading(func(c *compat.Call, in In) (any, error) {
		return ofGroup(func(c *compat.Call, group bridge.JID) (any, error) { return handle(c, group, in) })(c)
	})
}

func listGroups(c *compat.Call) (any, error) {
	p, err := pageOf(c, maxItems)
	all := c.API.AllChats(c.Context(), bridge.ChatQuery{Type: bridge.ChatsGroup, Limit: 100})
	chosen := compat.Items(all, p.skip, p.take, func(chat bridge.Chat) (any, bool) { return chat.JID, true })
	return &compat.List{Bytes: compat.ItemsBytes, Items: compat.Each(chosen, func(chosen any) (any, error) {
		return getGroup(c, chosen.(bridge.JID))
	})}, err
}

func getGroup(c *compat.Call, jid bridge.JID) (any, error) {
	shown, err := compat.Group(c, jid)
	return showGroup(shown), err
}

func listParticipants(c *compat.Call, jid bridge.JID) (any, error) {
	shown, err := compat.Group(c, jid)
	return showGroup(shown).Participants, err
}

// people are the members in a body.
type people struct {
	Participants []struct {
		ID compat.Text `json:"id"`
	} `json:"participants"`
}

func (p people) jids() ([]bridge.JID, error) {
	if len(p.Participants) == 0 {
		return nil, bridge.Invalid(`participants is missing: a list such as [{"id":"15551234567@c.us"}]`)
	}
	ids := make([]string, len(p.Participants))
	for i, one := range p.Participants {
		ids[i] = string(one.ID)
	}
	return compat.Recipients("participants", ids)
}

// createGroupBody is the body of [createGroup].
type createGroupBody struct {
	Name compat.Text `json:"name"`
	people
}

func createGroup(c *compat.Call, in createGroupBody) (any, error) {
	members, err := in.jids()
	if err != nil {
		return nil, err
	}
	created, err := c.API.CreateGroup(c.Context(), string(in.Name), members, c.Key())
	shown := showGroup(bridge.Group{JID: created.JID, Name: created.Name})
	shown.Participants = resultsOf(created.Participants)
	return shown, err
}

// resultsOf shows the result of a change for each member.
func resultsOf(results []bridge.ParticipantResult) []member {
	shown := make([]member, len(results))
	for i, p := range results {
		shown[i] = member{JID: p.JID, LID: p.LID}
		if !p.JID.IsLID() {
			shown[i].PhoneNumber = p.JID
		}
		if p.Error != nil {
			shown[i].Error = http.StatusForbidden
		}
	}
	return shown
}

// changeMembers returns the handler that changes members of a group.
func changeMembers(action bridge.ParticipantAction) compat.Handler {
	return inGroup(func(c *compat.Call, group bridge.JID, in people) (any, error) {
		members, err := in.jids()
		if err != nil {
			return nil, err
		}
		results, err := c.API.ChangeParticipants(c.Context(), group, action, members, c.Key())
		return resultsOf(results), err
	})
}

// changeGroup returns the handler that changes one setting of a group.
func changeGroup(patch func(in groupChange) bridge.GroupPatch) compat.Handler {
	return inGroup(func(c *compat.Call, group bridge.JID, in groupChange) (any, error) {
		_, err := c.API.ChangeGroup(c.Context(), group, patch(in), c.Key())
		return true, err
	})
}

type groupChange struct {
	Subject     compat.Text `json:"subject"`
	Description compat.Text `json:"description"`
	AdminsOnly  compat.Flag `json:"adminsOnly"`
}

func subjectOf(in groupChange) bridge.GroupPatch {
	return bridge.GroupPatch{Name: new(string(in.Subject))}
}

func descriptionOf(in groupChange) bridge.GroupPatch {
	return bridge.GroupPatch{Topic: new(string(in.Description))}
}

func infoAdminsOnly(in groupChange) bridge.GroupPatch {
	return bridge.GroupPatch{IsLocked: new(bool(in.AdminsOnly))}
}

func messagesAdminsOnly(in groupChange) bridge.GroupPatch {
	return bridge.GroupPatch{IsAnnounce: new(bool(in.AdminsOnly))}
}

var success = map[string]bool{"success": true}

// pictureBody is the body of [setPicture] and [setOwnPicture].
type pictureBody struct {
	File file `json:"file"`
}

func setPicture(c *compat.Call, group bridge.JID, in pictureBody) (any, error) {
	return success, compat.SetPicture(c, string(in.File.URL), func(picture io.Reader) error {
		return c.API.SetGroupPicture(c.Context(), group, picture, c.Key())
	})
}

func removePicture(c *compat.Call, group bridge.JID) (any, error) {
	return success, c.API.RemoveGroupPicture(c.Context(), group, c.Key())
}

// showInvite returns the code in a group's link.
func showInvite(c *compat.Call, group bridge.JID) (any, error) {
	link, err := c.API.GroupLink(c.Context(), group)
	return link.Code, err
}

// showInvited shows the group that the code of the query leads to.
func showInvited(c *compat.Call) (any, error) {
	g, err := c.API.InvitedGroup(c.Context(), c.URL.Query().Get("code"))
	return map[string]any{"JID": g.JID, "Name": g.Name, "Topic": g.Topic, "OwnerJID": g.OwnerJID, "GroupCreated": g.CreatedAt, "ParticipantCount": g.Participants, "IsAnnounce": g.IsAnnounce, "IsJoinApprovalRequired": g.JoinApproval}, err
}

func revokeInvite(c *compat.Call, group bridge.JID) (any, error) {
	link, err := c.API.RevokeGroupLink(c.Context(), group, c.Key())
	return link.Code, err
}

func leaveGroup(c *compat.Call, group bridge.JID) (any, error) {
	return true, c.API.LeaveGroup(c.Context(), group, c.Key())
}

// joinGroupBody is the body of [joinGroup].
type joinGroupBody struct {
	Code compat.Text `json:"code"`
}

func joinGroup(c *compat.Call, in joinGroupBody) (any, error) {
	joined, err := c.API.JoinGroup(c.Context(), string(in.Code), c.Key())
	return map[string]any{"id": joined.JID}, err
}
