package evolution

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// groupRecord is a group as Evolution shows it. Unknown fields are null.
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
		if role := compat.Role(p, ""); role != "" {
			members[i].Admin = &role
		}
	}
	return members
}

// ofGroup returns the handler of a route that names its group in the query or the body.
func ofGroup(handle func(c *compat.Call, group bridge.JID) (any, error)) compat.Handler {
	return func(c *compat.Call) (any, error) {
		var in struct {
			GroupJID compat.Text `json:"groupJid"`
		}
		text := c.URL.Query().Get("groupJid")
		if text == "" {
			if err := c.DecodeOptional(&in); err != nil {
				return nil, err
			}
			text = string(in.GroupJID)
		}
		if text == "" {
			return nil, bridge.Invalid("The group id needs to be informed in the query: groupJid")
		}
		jid, err := compat.Recipient(text)
		if err == nil && !jid.IsGroup() {
			err = bridge.Invalid("groupJid: %q is not a group", bridge.Beginning(text, 60))
		}
		if err != nil {
			return nil, err
		}
		return handle(c, jid)
	}
}

// inGroup returns a handler as ofGroup does, for a route that has more in its body.
func inGroup[In any](handle func(c *compat.Call, group bridge.JID, in In) (any, error)) compat.Handler {
	return compat.Reading(func(c *compat.Call, in In) (any, error) {
		return ofGroup(func(c *compat.Call, group bridge.JID) (any, error) { return handle(c, group, in) })(c)
	})
}

// listGroups lists all groups. It asks the network about each one only if their members are wanted.
func listGroups(c *compat.Call) (any, error) {
	whole := strings.EqualFold(c.URL.Query().Get("getParticipants"), "true")
	all := c.API.AllChats(c.Context(), bridge.ChatQuery{Type: bridge.ChatsGroup, Limit: 100})
	return &compat.List{Bytes: compat.ItemsBytes, Items: compat.Each(all, func(chat bridge.Chat) (any, error) {
		if !whole {
			return groupRecord{ID: chat.JID, Subject: chat.Name, Size: chat.Participants}, nil
		}
		return showGroup(c, chat.JID)
	})}, nil
}

func showGroup(c *compat.Call, group bridge.JID) (any, error) {
	shown, err := compat.Group(c, group)
	return groupOf(shown), err
}

func listParticipants(c *compat.Call, group bridge.JID) (any, error) {
	shown, err := compat.Group(c, group)
	return map[string]any{"participants": membersOf(shown)}, err
}

func showInvite(c *compat.Call, group bridge.JID) (any, error) {
	link, err := c.API.GroupLink(c.Context(), group)
	return map[string]string{"inviteUrl": link.Link, "inviteCode": link.Code}, err
}

func revokeInvite(c *compat.Call, group bridge.JID) (any, error) {
	link, err := c.API.RevokeGroupLink(c.Context(), group, c.Key())
	return map[string]string{"inviteUrl": link.Link, "inviteCode": link.Code}, err
}

func joinGroup(c *compat.Call) (any, error) {
	code := c.URL.Query().Get("inviteCode")
	if code == "" {
		return nil, bridge.Invalid(`instance requires property "inviteCode"`)
	}
	join, err := c.API.JoinGroup(c.Context(), code, c.Key())
	return map[string]any{"accepted": join.Status == bridge.GroupJoined, "groupJid": join.JID}, err
}

// createGroupBody is the body of [createGroup].
type createGroupBody struct {
	Subject      compat.Text  `json:"subject"`
	Description  compat.Text  `json:"description"`
	Participants compat.Texts `json:"participants"`
}

func createGroup(c *compat.Call, in createGroupBody) (any, error) {
	people, err := compat.Recipients("participants", in.Participants)
	if err != nil {
		return nil, err
	}
	created, err := c.API.CreateGroup(c.Context(), string(in.Subject), people, c.Key())
	if err != nil {
		return nil, err
	}
	shown := groupRecord{ID: created.JID, Subject: created.Name}
	for _, p := range created.Participants {
		if p.Status == bridge.ParticipantDone || p.Status == bridge.ParticipantAlready {
			shown.Participants = append(shown.Participants, member{ID: p.JID, LID: p.LID})
		}
	}
	shown.Size = len(shown.Participants) + 1
	if in.Description != "" {
		shown.Desc = new(string(in.Description))
		if _, err := c.API.ChangeGroup(c.Context(), created.JID, bridge.GroupPatch{Topic: shown.Desc}, ""); err != nil {
			return nil, bridge.Fail(bridge.CodeOf(err), "the group %s was made, but its description was not set: %v", created.JID, err)
		}
	}
	return shown, nil
}

// memberStatus has the network's number for each outcome. Other outcomes are 409.
var memberStatus = map[bridge.ParticipantStatus]string{
	bridge.ParticipantDone: "200", bridge.ParticipantInvite: "403", bridge.ParticipantNotMember: "404", bridge.ParticipantNotOnNetwork: "404", bridge.ParticipantRecentlyLeft: "408",
}

// changeParticipantsBody is the body of [changeParticipants].
type changeParticipantsBody struct {
	Action       compat.Text  `json:"action"`
	Participants compat.Texts `json:"participants"`
}

func changeParticipants(c *compat.Call, group bridge.JID, in changeParticipantsBody) (any, error) {
	people, err := compat.Recipients("participants", in.Participants)
	if err != nil {
		return nil, err
	}
	results, err := c.API.ChangeParticipants(c.Context(), group, bridge.ParticipantAction(in.Action), people, c.Key())
	changed := make([]map[string]any, len(results))
	for i, result := range results {
		changed[i] = map[string]any{"jid": result.JID, "status": cmp.Or(memberStatus[result.Status], "409"), "error": result.Error}
	}
	return map[string]any{"updateParticipants": changed}, err
}

// groupChange is the body of the routes that change a group.
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

var updateDone = map[string]string{"update": "success"}

// changeGroup returns the handler of a route that changes a group.
func changeGroup(patchOf func(groupChange) (bridge.GroupPatch, error)) compat.Handler {
	return inGroup(func(c *compat.Call, group bridge.JID, in groupChange) (any, error) {
		patch, err := patchOf(in)
		if err == nil {
			_, err = c.API.ChangeGroup(c.Context(), group, patch, c.Key())
		}
		return updateDone, err
	})
}

// groupPicture is the body of [setGroupPicture].
type groupPicture struct {
	Image compat.Text `json:"image"`
}

func setGroupPicture(c *compat.Call, group bridge.JID, in groupPicture) (any, error) {
	return updateDone, compat.SetPicture(c, string(in.Image), func(picture io.Reader) error {
		return c.API.SetGroupPicture(c.Context(), group, picture, c.Key())
	})
}

func leaveGroup(c *compat.Call, group bridge.JID) (any, error) {
	return map[string]any{"groupJid": group, "leave": true}, c.API.LeaveGroup(c.Context(), group, c.Key())
}
