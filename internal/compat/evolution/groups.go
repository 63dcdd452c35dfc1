package evolution

import (
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// groupRecord is a group as Evolution shows it; what is not known is null.
type groupRecord struct {
	ID           bridge.JID `json:"id"`
	Subject      string     `json:"subject"`
	SubjectOwner bridge.JID `json:"subjectOwner"`
	SubjectTime  *int64     `json:"subjectTime"`
	PictureURL   *string    `json:"pictureUrl"`
	Size         int        `json:"size"`
	Creation     *int64     `json:"creation"`
	Owner        bridge.JID `json:"owner"`
	Desc         *string    `json:"desc"`
	DescID       *string    `json:"descId"`
	Restrict     *bool      `json:"restrict"`
	Announce     *bool      `json:"announce"`
	Participants []member   `json:"participants,omitempty"`
}

// member is a participant of a group.
type member struct {
	ID    bridge.JID `json:"id"`
	LID   bridge.JID `json:"lid,omitempty"`
	Admin *string    `json:"admin"`
}

func groupOf(g bridge.Group) groupRecord {
	r := groupRecord{
		ID: g.JID, Subject: g.Name, Size: len(g.Participants), Owner: g.OwnerJID, Desc: &g.Topic, Restrict: &g.IsLocked, Announce: &g.IsAnnounce,
		Participants: membersOf(g),
	}
	if g.CreatedAt != nil {
		r.Creation = new(g.CreatedAt.Unix())
	}
	return r
}

func membersOf(g bridge.Group) []member {
	members := make([]member, len(g.Participants))
	for i, p := range g.Participants {
		members[i] = member{ID: p.JID, LID: p.LID}
		switch {
		case p.IsSuperAdmin:
			members[i].Admin = new("superadmin")
		case p.IsAdmin:
			members[i].Admin = new("admin")
		}
	}
	return members
}

// groupNamed returns the group that a call names, in its address or its body.
func groupNamed(c *compat.Call) (bridge.JID, error) {
	text := c.URL.Query().Get("groupJid")
	if text == "" {
		var in struct {
			GroupJID compat.Text `json:"groupJid"`
		}
		if err := c.DecodeOptional(&in); err != nil {
			return "", err
		}
		text = string(in.GroupJID)
	}
	if text == "" {
		return "", bridge.Invalid("The group id needs to be informed in the query: groupJid")
	}
	jid, err := compat.Recipient(text)
	if err == nil && !jid.IsGroup() {
		err = bridge.Invalid("groupJid: %q is no group", bridge.Beginning(text, 60))
	}
	return jid, err
}

// group returns the group that a call names.
func group(c *compat.Call) (bridge.Group, error) {
	jid, err := groupNamed(c)
	if err != nil {
		return bridge.Group{}, err
	}
	detail, err := c.API.Group(c.Context(), jid)
	return compat.GroupOf(detail), err
}

// listGroups lists all groups. Only with their members the network is asked about each.
func listGroups(c *compat.Call) (compat.Answer, error) {
	whole := strings.EqualFold(c.URL.Query().Get("getParticipants"), "true")
	all := c.API.AllChats(c.Context(), bridge.ChatQuery{Type: bridge.ChatsGroup, Limit: 100})
	return compat.OKList(compat.ItemsBytes, compat.Each(all, func(chat bridge.Chat) (any, error) {
		if !whole {
			return groupRecord{ID: chat.JID, Subject: chat.Name, Size: chat.Participants}, nil
		}
		detail, err := c.API.Group(c.Context(), chat.JID)
		return groupOf(compat.GroupOf(detail)), err
	}))
}

func showGroup(c *compat.Call) (compat.Answer, error) {
	shown, err := group(c)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(groupOf(shown))
}

func listParticipants(c *compat.Call) (compat.Answer, error) {
	shown, err := group(c)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(map[string]any{"participants": membersOf(shown)})
}

func answerInvite(status int, link bridge.GroupLink, err error) (compat.Answer, error) {
	return compat.Answer{Status: status, Body: map[string]string{"inviteUrl": link.Link, "inviteCode": link.Code}}, err
}

func showInvite(c *compat.Call) (compat.Answer, error) {
	jid, err := groupNamed(c)
	if err != nil {
		return compat.Answer{}, err
	}
	link, err := c.API.GroupLink(c.Context(), jid)
	return answerInvite(http.StatusOK, link, err)
}

func revokeInvite(c *compat.Call) (compat.Answer, error) {
	jid, err := groupNamed(c)
	if err != nil {
		return compat.Answer{}, err
	}
	link, err := c.API.RevokeGroupLink(c.Context(), jid, c.Key())
	return answerInvite(http.StatusCreated, link, err)
}

func joinGroup(c *compat.Call) (compat.Answer, error) {
	code := c.URL.Query().Get("inviteCode")
	if code == "" {
		return compat.Answer{}, bridge.Invalid(`instance requires property "inviteCode"`)
	}
	join, err := c.API.JoinGroup(c.Context(), code, c.Key())
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(map[string]any{"accepted": join.Status == bridge.GroupJoined, "groupJid": join.JID})
}

// people reads people as clients write them.
func people(texts []string) (jids []bridge.JID, err error) {
	for _, text := range texts {
		jid, err := compat.Recipient(text)
		if err != nil {
			return nil, err
		}
		jids = append(jids, jid)
	}
	return jids, nil
}

// createGroupBody holds what [createGroup] reads.
type createGroupBody struct {
	Subject      compat.Text  `json:"subject"`
	Description  compat.Text  `json:"description"`
	Participants compat.Texts `json:"participants"`
}

func createGroup(c *compat.Call, in createGroupBody) (compat.Answer, error) {
	jids, err := people(in.Participants)
	if err != nil {
		return compat.Answer{}, err
	}
	made, err := c.API.CreateGroup(c.Context(), string(in.Subject), jids, c.Key())
	if err != nil {
		return compat.Answer{}, err
	}
	shown := groupRecord{ID: made.JID, Subject: made.Name}
	for _, p := range made.Participants {
		if p.Status == bridge.ParticipantDone || p.Status == bridge.ParticipantAlready {
			shown.Participants = append(shown.Participants, member{ID: p.JID, LID: p.LID})
		}
	}
	shown.Size = len(shown.Participants) + 1
	if in.Description != "" {
		shown.Desc = new(string(in.Description))
		if _, err := c.API.ChangeGroup(c.Context(), made.JID, bridge.GroupPatch{Topic: shown.Desc}, ""); err != nil {
			return compat.Answer{}, bridge.Fail(bridge.CodeOf(err), "the group %s was made, but its description was not set: %v", made.JID, err)
		}
	}
	return compat.Answer{Status: http.StatusCreated, Body: shown}, nil
}

// memberStatus has the network's number for each outcome; it is 409 for those that are not named.
var memberStatus = map[bridge.ParticipantStatus]string{
	bridge.ParticipantDone: "200", bridge.ParticipantInvite: "403", bridge.ParticipantNotMember: "404", bridge.ParticipantNotOnNetwork: "404", bridge.ParticipantRecentlyLeft: "408",
}

// changeParticipantsBody holds what [changeParticipants] reads.
type changeParticipantsBody struct {
	Action       compat.Text  `json:"action"`
	Participants compat.Texts `json:"participants"`
}

func changeParticipants(c *compat.Call, in changeParticipantsBody) (compat.Answer, error) {
	jid, err := groupNamed(c)
	if err != nil {
		return compat.Answer{}, err
	}
	jids, err := people(in.Participants)
	if err != nil {
		return compat.Answer{}, err
	}
	results, err := c.API.ChangeParticipants(c.Context(), jid, bridge.ParticipantAction(in.Action), jids, c.Key())
	if err != nil {
		return compat.Answer{}, err
	}
	changed := make([]map[string]any, len(results))
	for i, result := range results {
		status := memberStatus[result.Status]
		if status == "" {
			status = "409"
		}
		changed[i] = map[string]any{"jid": result.JID, "status": status, "error": result.Error}
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]any{"updateParticipants": changed}}, nil
}

// groupChange holds what the routes that change a group are given.
type groupChange struct {
	Subject     *compat.Text   `json:"subject"`
	Description *compat.Text   `json:"description"`
	Action      compat.Text    `json:"action"`
	Expiration  *compat.Number `json:"expiration"`
}

func subjectOf(in groupChange) (patch bridge.GroupPatch, err error) {
	if in.Subject == nil {
		return patch, bridge.Invalid(`instance requires property "subject"`)
	}
	return bridge.GroupPatch{Name: (*string)(in.Subject)}, nil
}

func descriptionOf(in groupChange) (patch bridge.GroupPatch, err error) {
	if in.Description == nil {
		return patch, bridge.Invalid(`instance requires property "description"`)
	}
	return bridge.GroupPatch{Topic: (*string)(in.Description)}, nil
}

func settingOf(in groupChange) (patch bridge.GroupPatch, err error) {
	switch in.Action {
	case "announcement", "not_announcement":
		patch.IsAnnounce = new(in.Action == "announcement")
	case "locked", "unlocked":
		patch.IsLocked = new(in.Action == "locked")
	default:
		err = bridge.Invalid("action must be announcement, not_announcement, locked or unlocked")
	}
	return patch, err
}

func timerOf(in groupChange) (patch bridge.GroupPatch, err error) {
	if in.Expiration == nil || !slices.Contains([]compat.Number{0, 86400, 604800, 7776000}, *in.Expiration) {
		return patch, bridge.Invalid("expiration must be 0, 86400, 604800 or 7776000 seconds")
	}
	return bridge.GroupPatch{Disappearing: new(uint32(*in.Expiration))}, nil
}

// changeGroup returns the route that makes a change of a group.
func changeGroup(patchOf func(groupChange) (bridge.GroupPatch, error)) func(*compat.Call) (compat.Answer, error) {
	return func(c *compat.Call) (compat.Answer, error) {
		var in groupChange
		if err := c.Decode(&in); err != nil {
			return compat.Answer{}, err
		}
		jid, err := groupNamed(c)
		if err != nil {
			return compat.Answer{}, err
		}
		patch, err := patchOf(in)
		if err == nil {
			_, err = c.API.ChangeGroup(c.Context(), jid, patch, c.Key())
		}
		return compat.Answer{Status: http.StatusCreated, Body: map[string]string{"update": "success"}}, err
	}
}

func setGroupPicture(c *compat.Call) (compat.Answer, error) {
	var in struct {
		Image compat.Text `json:"image"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	jid, err := groupNamed(c)
	if err == nil {
		err = compat.SetGroupPicture(c, jid, string(in.Image))
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]string{"update": "success"}}, err
}

func leaveGroup(c *compat.Call) (compat.Answer, error) {
	jid, err := groupNamed(c)
	if err == nil {
		err = c.API.LeaveGroup(c.Context(), jid, c.Key())
	}
	return compat.Answer{Status: http.StatusOK, Body: map[string]any{"groupJid": jid, "leave": true}}, err
}
