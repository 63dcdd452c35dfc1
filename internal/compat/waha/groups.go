package waha

import (
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// group is a group as the GOWS engine shows it.
type group struct {
	JID          bridge.JID   `json:"JID"`
	OwnerJID     bridge.JID   `json:"OwnerJID"`
	Name         string       `json:"Name"`
	Topic        string       `json:"Topic"`
	IsLocked     bool         `json:"IsLocked"`
	IsAnnounce   bool         `json:"IsAnnounce"`
	IsEphemeral  bool         `json:"IsEphemeral"`
	Timer        uint32       `json:"DisappearingTimer"`
	JoinApproval bool         `json:"IsJoinApprovalRequired"`
	GroupCreated *bridge.Time `json:"GroupCreated"`
	Participants []member     `json:"Participants"`
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
		Timer: g.Expiration, JoinApproval: g.JoinApproval, GroupCreated: g.CreatedAt, Participants: []member{},
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

// groupOf returns the group that a path names.
func groupOf(c *compat.Call) (bridge.JID, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return "", err
	}
	jid, err := compat.Recipient(c.PathValue("group"))
	if err == nil && !jid.IsGroup() {
		err = bridge.Invalid("%q is no group", bridge.Beginning(c.PathValue("group"), 60))
	}
	return jid, err
}

func listGroups(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	p, err := pageOf(c, maxItems)
	if err != nil {
		return compat.Answer{}, err
	}
	all := c.API.AllChats(c.Context(), bridge.ChatQuery{Type: bridge.ChatsGroup, Limit: 100})
	chosen := compat.Items(all, p.skip, p.take, func(chat bridge.Chat) (any, bool) { return chat.JID, true })
	return compat.OKList(compat.ItemsBytes, compat.Each(chosen, func(chosen any) (any, error) {
		detail, err := c.API.Group(c.Context(), chosen.(bridge.JID))
		return showGroup(compat.GroupOf(detail)), err
	}))
}

func getGroup(c *compat.Call) (compat.Answer, error) {
	jid, err := groupOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	detail, err := c.API.Group(c.Context(), jid)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(showGroup(compat.GroupOf(detail)))
}

// listParticipants answers the members of a group alone.
func listParticipants(c *compat.Call) (compat.Answer, error) {
	answer, err := getGroup(c)
	if err == nil {
		answer.Body = answer.Body.(group).Participants
	}
	return answer, err
}

// people are members that a call names.
type people struct {
	Participants []struct {
		ID compat.Text `json:"id"`
	} `json:"participants"`
}

func (p people) jids() (jids []bridge.JID, err error) {
	for _, one := range p.Participants {
		jid, err := compat.Recipient(string(one.ID))
		if err != nil {
			return nil, err
		}
		jids = append(jids, jid)
	}
	if len(jids) == 0 {
		return nil, bridge.Invalid(`participants is missing: a list such as [{"id":"15551234567@c.us"}]`)
	}
	return jids, nil
}

func createGroup(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Name compat.Text `json:"name"`
		people
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	members, err := in.jids()
	if err != nil {
		return compat.Answer{}, err
	}
	made, err := c.API.CreateGroup(c.Context(), string(in.Name), members, c.Key())
	if err != nil {
		return compat.Answer{}, err
	}
	shown := showGroup(bridge.Group{JID: made.JID, Name: made.Name})
	for _, p := range made.Participants {
		shown.Participants = append(shown.Participants, resultOf(p))
	}
	return compat.Answer{Status: http.StatusCreated, Body: shown}, nil
}

// resultOf shows what a change did for one member.
func resultOf(p bridge.ParticipantResult) member {
	shown := member{JID: p.JID, LID: p.LID}
	if !p.JID.IsLID() {
		shown.PhoneNumber = p.JID
	}
	if p.Error != nil {
		shown.Error = http.StatusForbidden
	}
	return shown
}

// changeMembers returns the route that changes members of a group.
func changeMembers(action bridge.ParticipantAction) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		var in people
		if err := c.Decode(&in); err != nil {
			return compat.Answer{}, err
		}
		jid, err := groupOf(c)
		if err != nil {
			return compat.Answer{}, err
		}
		members, err := in.jids()
		if err != nil {
			return compat.Answer{}, err
		}
		results, err := c.API.ChangeParticipants(c.Context(), jid, action, members, c.Key())
		if err != nil {
			return compat.Answer{}, err
		}
		shown := make([]member, len(results))
		for i, result := range results {
			shown[i] = resultOf(result)
		}
		return compat.OK(shown)
	}
}

// changeGroup returns the route that changes a group as a part of the body says.
func changeGroup(patch func(in groupChange) bridge.GroupPatch) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		var in groupChange
		if err := c.Decode(&in); err != nil {
			return compat.Answer{}, err
		}
		jid, err := groupOf(c)
		if err == nil {
			_, err = c.API.ChangeGroup(c.Context(), jid, patch(in), c.Key())
		}
		return compat.Answer{Status: http.StatusOK, Body: true}, err
	}
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

func setPicture(c *compat.Call) (compat.Answer, error) {
	var in struct {
		File file `json:"file"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	jid, err := groupOf(c)
	if err == nil {
		err = compat.SetGroupPicture(c, jid, string(in.File.URL))
	}
	return answerSuccess(err)
}

func removePicture(c *compat.Call) (compat.Answer, error) {
	jid, err := groupOf(c)
	if err == nil {
		err = c.API.RemoveGroupPicture(c.Context(), jid, c.Key())
	}
	return answerSuccess(err)
}

func answerSuccess(err error) (compat.Answer, error) {
	return compat.Answer{Status: http.StatusOK, Body: map[string]bool{"success": true}}, err
}

// showInvite answers the code in the link of a group.
func showInvite(c *compat.Call) (compat.Answer, error) {
	jid, err := groupOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	link, err := c.API.GroupLink(c.Context(), jid)
	return answerCode(http.StatusOK, link, err)
}

func revokeInvite(c *compat.Call) (compat.Answer, error) {
	jid, err := groupOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	link, err := c.API.RevokeGroupLink(c.Context(), jid, c.Key())
	return answerCode(http.StatusCreated, link, err)
}

func answerCode(status int, link bridge.GroupLink, err error) (compat.Answer, error) {
	return compat.Answer{Status: status, Body: link.Code}, err
}

func leaveGroup(c *compat.Call) (compat.Answer, error) {
	jid, err := groupOf(c)
	if err == nil {
		err = c.API.LeaveGroup(c.Context(), jid, c.Key())
	}
	return compat.Answer{Status: http.StatusCreated, Body: true}, err
}

func joinGroup(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Code compat.Text `json:"code"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	joined, err := c.API.JoinGroup(c.Context(), string(in.Code), c.Key())
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]any{"id": joined.JID}}, nil
}
