package groups

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// GroupLink returns the invite link of a group. Only admins see it.
func (gs *Groups) GroupLink(ctx context.Context, jid bridge.JID) (bridge.GroupLink, error) {
	ctx, c, end, err := gs.connect(ctx, queryTimeout)
	if err != nil {
		return bridge.GroupLink{}, err
	}
	defer end()
	link, err := c.GetGroupInviteLink(ctx, convert.WireJID(jid), false)
	if err != nil {
		return bridge.GroupLink{}, c.queryRefusal(ctx, jid, err)
	}
	return groupLinkOf(jid, link[len(whatsmeow.InviteLinkPrefix):]), nil
}

func groupLinkOf(jid bridge.JID, code string) bridge.GroupLink {
	return bridge.GroupLink{JID: jid, Link: bridge.InviteLinkPrefix + code, Code: code}
}

// InvitedGroup describes the group of a link without joining it.
func (gs *Groups) InvitedGroup(ctx context.Context, code string) (bridge.InvitedGroup, error) {
	ctx, c, end, err := gs.connect(ctx, queryTimeout)
	if err != nil {
		return bridge.InvitedGroup{}, err
	}
	defer end()
	info, err := c.GetGroupInfoFromLink(ctx, code)
	switch {
	case iqCode(err) != 0:
		return bridge.InvitedGroup{}, c.joinRefusal(err)
	case err != nil:
		return bridge.InvitedGroup{}, QueryError(err)
	}
	g := convert.Group(info)
	return bridge.InvitedGroup{
		GroupLink: groupLinkOf(g.JID, code), Name: g.Name, Topic: g.Topic, OwnerJID: gs.o.Store.Canonical(g.OwnerJID), CreatedAt: g.CreatedAt,
		Participants: max(info.ParticipantCount, len(g.Participants)), IsAnnounce: g.IsAnnounce, JoinApproval: g.JoinApproval,
	}, nil
}

// RevokeGroupLink revokes a group's link and returns the new one. If an earlier attempt may have
// revoked it, before is the link's code before that attempt.
func (gs *Groups) RevokeGroupLink(ctx context.Context, jid bridge.JID, before string) (bridge.GroupLink, error) {
	c, err := gs.open()
	if err != nil {
		return bridge.GroupLink{}, err
	}
	if before != "" {
		if present, err := gs.GroupLink(ctx, jid); err != nil || present.Code != before {
			return present, err
		}
	}
	ctx, cancel := gs.o.Within(ctx, queryTimeout)
	defer cancel()
	answer, err := c.changeGroups(ctx, convert.WireJID(jid), waBinary.Node{Tag: "invite"})
	if err != nil {
		return bridge.GroupLink{}, c.refusal(ctx, jid, err)
	}
	invite, _ := answer.GetOptionalChildByTag("invite")
	code, ok := invite.Attrs["code"].(string)
	if !ok {
		return bridge.GroupLink{}, c.gs.unanswered(errors.New("the network's answer to a revoked link has no new link"))
	}
	return groupLinkOf(jid, code), nil
}

// JoinGroup joins a group with the code of its link, or asks its admins to be let in. again means
// that an earlier attempt may have done so.
func (gs *Groups) JoinGroup(ctx context.Context, code string, again bool) (bridge.GroupJoin, error) {
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
	if err != nil {
		return bridge.GroupJoin{}, err
	}
	defer end()
	answer, err := c.changeGroups(ctx, types.GroupServerJID, waBinary.Node{Tag: "invite", Attrs: waBinary.Attrs{"code": code}})
	if again && iqCode(err) == codeConflict {
		return c.joinedBefore(ctx, code)
	}
	if err != nil {
		return bridge.GroupJoin{}, c.joinRefusal(err)
	}
	if request, pending := answer.GetOptionalChildByTag("membership_approval_request"); pending {
		jid, _ := request.Attrs["jid"].(types.JID)
		return bridge.GroupJoin{JID: convert.JID(jid), Status: bridge.GroupPending}, nil
	}
	group, _ := answer.GetOptionalChildByTag("group")
	jid, ok := group.Attrs["jid"].(types.JID)
	if !ok {
		return bridge.GroupJoin{}, c.gs.unanswered(errors.New("the network's answer to joining a group names no group"))
	}
	c.joined(ctx, jid)
	return bridge.GroupJoin{JID: convert.JID(jid), Status: bridge.GroupJoined}, nil
}

// JoinInvited joins a group with the invitation in a message by one of its admins, if it is one and has not expired.
// again means that an earlier attempt may have done so, when it had not expired.
func (gs *Groups) JoinInvited(ctx context.Context, m bridge.Message, again bool) (bridge.GroupJoin, error) {
	if err := m.Joinable(time.Now()); err != nil && (!again || m.GroupInvite == nil) {
		return bridge.GroupJoin{}, err
	}
	ctx, c, end, err := gs.connect(ctx, changeTimeout)
	if err != nil {
		return bridge.GroupJoin{}, err
	}
	defer end()
	jid, expires := convert.WireJID(m.GroupInvite.JID), int64(0)
	if m.GroupInvite.ExpiresAt != nil {
		expires = m.GroupInvite.ExpiresAt.Unix()
	}
	attrs := waBinary.Attrs{"code": m.GroupInvite.Code, "expiration": expires, "admin": convert.WireJID(m.SenderJID)}
	_, err = c.changeGroups(ctx, jid, waBinary.Node{Tag: "accept", Attrs: attrs})
	if again && iqCode(err) != 0 { // an invitation is valid once; only members may ask about the group
		if _, unknown := c.GetGroupInfo(ctx, jid); unknown == nil {
			err = nil
		}
	}
	switch iqCode(err) {
	case codeGone, codeUnauthorized, codeForbidden, codeNotFound:
		return bridge.GroupJoin{}, bridge.Fail(bridge.CodeInviteInvalid, "the invitation is no longer valid: ask for a new one").Because(err)
	}
	if err != nil {
		return bridge.GroupJoin{}, c.joinRefusal(err)
	}
	c.joined(ctx, jid)
	return bridge.GroupJoin{JID: m.GroupInvite.JID, Status: bridge.GroupJoined}, nil
}

// joinedBefore returns the group that the account has already joined.
func (c *conn) joinedBefore(ctx context.Context, code string) (bridge.GroupJoin, error) {
	info, err := c.GetGroupInfoFromLink(ctx, code)
	switch {
	case iqCode(err) != 0:
		return bridge.GroupJoin{}, c.joinRefusal(err)
	case err != nil:
		return bridge.GroupJoin{}, QueryError(err)
	}
	c.joined(ctx, info.JID)
	return bridge.GroupJoin{JID: convert.JID(info.JID), Status: bridge.GroupJoined}, nil
}

// joined stores a group that the account has joined. If the network does not describe it now, it
// is asked again in the background.
func (c *conn) joined(ctx context.Context, jid types.JID) {
	group := convert.JID(jid)
	c.ForgetGroup(group)
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	info, err := c.GetGroupInfo(ctx, jid)
	if err != nil {
		c.gs.o.Log.Debug().Str("group", group.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("the network does not describe the joined group yet")
		c.gs.fetches.again(group)
		return
	}
	c.gs.saveOwnChange(convert.GroupFacts(info)...)
}

// joinRefusal returns the error for a group that was not joined.
func (c *conn) joinRefusal(err error) error {
	switch iqCode(err) {
	case codeBlocked, codeNotFound, 400:
		return bridge.Fail(bridge.CodeInviteInvalid, "no group has this link: check it").Because(err)
	case codeGone:
		return bridge.Fail(bridge.CodeInviteInvalid, "the group's admins have revoked this link: ask them for the new one").Because(err)
	case codeUnauthorized, codeForbidden:
		return bridge.Fail(bridge.CodeJoinRefused, "the account may not join this group by its link, perhaps because it was removed from it: ask an admin to add it").Because(err)
	case codeConflict:
		return bridge.Fail(bridge.CodeAlreadyInGroup, "the account is in this group already").Because(err)
	}
	return c.refusedChange(err)
}

// JoinRequests returns the requests to join a group. Only admins see them.
func (gs *Groups) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	ctx, c, end, err := gs.connect(ctx, queryTimeout)
	if err != nil {
		return nil, err
	}
	defer end()
	asking, err := c.GetGroupRequestParticipants(ctx, convert.WireJID(jid))
	if err != nil {
		return nil, c.queryRefusal(ctx, jid, err)
	}
	requests := make([]bridge.JoinRequest, 0, len(asking))
	for _, one := range asking {
		person := convert.JID(one.JID)
		if person == "" {
			continue
		}
		request := gs.o.Store.Asking(person, nil)
		if !one.RequestedAt.IsZero() {
			request.RequestedAt = new(bridge.At(one.RequestedAt))
		}
		requests = append(requests, request)
	}
	return requests, nil
}
