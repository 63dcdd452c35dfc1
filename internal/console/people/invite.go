package people

import (
	"cmp"
	"net/http"
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

type invitePage struct {
	Group  bridge.InvitedGroup
	Name   string
	Owner  string // empty if the network does not name the owner
	Member bool   // whether the account is in the group
	Joins  bool   // whether the visitor may join
	Path   string
	Key    string
	Fault  fault
	Curl   string
}

// ShowInvite shows the group that an invite link leads to, before joining it.
func ShowInvite(req *frame.Request) error { return showInvite(req, http.StatusOK, fault{}) }

func showInvite(req *frame.Request, status int, f fault) error {
	code := req.PathValue("code")
	group, err := req.API.InvitedGroup(req.Context(), code)
	if err != nil {
		return err
	}
	me, err := names.Me(req)
	if err != nil {
		return err
	}
	page := invitePage{
		Group: group, Name: cmp.Or(group.Name, "Group without a name"), Joins: mayCreateGroups(req), Path: view.Root + "/invite/" + code, Key: frame.NewKey(), Fault: f,
		Curl: req.Curl("GET", "/api/groups/invites/"+code, nil),
	}
	if group.OwnerJID != "" {
		n, err := names.Of(req, []bridge.JID{group.OwnerJID})
		if err != nil {
			return err
		}
		page.Owner = n.Of(group.OwnerJID)
	}
	stored, err := req.API.Group(req.Context(), group.JID)
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		return err
	}
	page.Member = slices.ContainsFunc(stored.Stored.Participants, func(p bridge.Participant) bool { return me != "" && p.JID == me })
	return req.ShowAs(status, "invite", page.Name, page)
}

// JoinByInvite joins the group of an invite link. The page shows a refusal.
func JoinByInvite(req *frame.Request) error {
	join, err := req.API.JoinGroup(req.Context(), req.PathValue("code"), req.Key())
	switch {
	case err != nil:
		f, status, err := faultOf(req, "join", err)
		if err != nil {
			return err
		}
		return showInvite(req, status, f)
	case join.Status == bridge.GroupPending:
		return req.Done(nil, "Your request was sent. The group shows up here once an admin approves it.", view.Root+"/chats")
	}
	return req.Done(nil, "You joined the group.", view.ChatPath(join.JID))
}
