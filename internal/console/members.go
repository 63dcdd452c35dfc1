package console

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// membersPage is who is in a group, and who asks to be let in.
type membersPage struct {
	Chat     bridge.JID
	Name     string
	Group    bridge.Group
	Requests []bridge.JoinRequest
	Decides  bool // whether the visitor may let people in
	Curl     string
}

// showMembers answers the members of a group, and where the account is one of its
// admins, who asks to be let in.
func (c *Console) showMembers(v *visit) error {
	ctx := v.r.Context()
	jid, err := v.chat()
	if err != nil {
		return err
	}
	if !jid.IsGroup() {
		return errUnknown
	}
	detail, err := v.api.Group(ctx, jid)
	if err != nil {
		return err
	}
	page := membersPage{Chat: detail.JID, Name: detail.Stored.Name, Group: detail.Stored.Group, Decides: v.sends(), Curl: curlGet("/api/groups/" + detail.JID.Escaped())}
	if detail.Live != nil {
		page.Group = *detail.Live
		if page.Requests, err = v.joinRequests(ctx, detail.JID); err != nil {
			return err
		}
	}
	v.show(http.StatusOK, "members", page.Name, page)
	return nil
}

// joinRequests returns who asks to be let into a group; none where only its admins
// may know.
func (v *visit) joinRequests(ctx context.Context, group bridge.JID) ([]bridge.JoinRequest, error) {
	requests, err := v.api.JoinRequests(ctx, group)
	switch bridge.CodeOf(err) {
	case bridge.CodeNotAdmin, bridge.CodeNotInGroup, bridge.CodeNotConnected:
		return nil, nil
	}
	return requests, err
}

// decideJoinRequest lets a person into a group, or does not.
func (c *Console) decideJoinRequest(v *visit) error {
	group, err := v.chat()
	if err != nil {
		return err
	}
	person, err := bridge.ParseJID(v.r.PostForm.Get("person"))
	if err != nil {
		return err
	}
	action := bridge.ParticipantAction(v.r.PostForm.Get("action"))
	results, err := v.api.DecideJoinRequests(v.r.Context(), group, action, []bridge.JID{person}, v.key())
	if err != nil {
		return err
	}
	text := "They are in the group now."
	if action == bridge.ParticipantReject {
		text = "The request was rejected."
	}
	for _, result := range results {
		if result.Error != nil {
			text = sentence(*result.Error)
		}
	}
	return v.done(text, chatPath(group)+"/members")
}
