package wa

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// GroupLink returns the link by which a group may be joined. Only admins may see it.
func (m *Manager) GroupLink(ctx context.Context, jid bridge.JID) (bridge.GroupLink, error) {
	l, err := m.open()
	if err != nil {
		return bridge.GroupLink{}, err
	}
	ctx, cancel := m.within(ctx, groupTimeout)
	defer cancel()
	link, err := l.cli.GetGroupInviteLink(ctx, convert.WireJID(jid), false)
	switch {
	case iqCode(err) != 0:
		return bridge.GroupLink{}, l.groupRefusal(ctx, jid, err)
	case err != nil:
		return bridge.GroupLink{}, groupError(err)
	}
	return groupLinkOf(jid, link[len(whatsmeow.InviteLinkPrefix):]), nil
}

func groupLinkOf(jid bridge.JID, code string) bridge.GroupLink {
	return bridge.GroupLink{JID: jid, Link: bridge.InviteLinkPrefix + code, Code: code}
}

// RevokeGroupLink takes a group's link back and returns the new one. Where an
// earlier try may have done so, before is the code from before it.
func (m *Manager) RevokeGroupLink(ctx context.Context, jid bridge.JID, before string) (bridge.GroupLink, error) {
	l, err := m.open()
	if err != nil {
		return bridge.GroupLink{}, err
	}
	if before != "" {
		if present, err := m.GroupLink(ctx, jid); err != nil || present.Code != before {
			return present, err
		}
	}
	ctx, cancel := m.within(ctx, groupTimeout)
	defer cancel()
	answer, err := l.changeGroups(ctx, convert.WireJID(jid), waBinary.Node{Tag: "invite"})
	if err != nil {
		return bridge.GroupLink{}, l.groupRefusal(ctx, jid, err)
	}
	invite, _ := answer.GetOptionalChildByTag("invite")
	code, ok := invite.Attrs["code"].(string)
	if !ok {
		return bridge.GroupLink{}, unansweredChange(errors.New("the answer to a revoked link has no new one"))
	}
	return groupLinkOf(jid, code), nil
}

// JoinGroup joins a group by the code of its link, or asks its admins to be let
// in. With again, an earlier try may have done so.
func (m *Manager) JoinGroup(ctx context.Context, code string, again bool) (bridge.GroupJoin, error) {
	l, err := m.open()
	if err != nil {
		return bridge.GroupJoin{}, err
	}
	ctx, cancel := m.within(ctx, groupCallTime)
	defer cancel()
	answer, err := l.changeGroups(ctx, types.GroupServerJID, waBinary.Node{Tag: "invite", Attrs: waBinary.Attrs{"code": code}})
	if again && iqCode(err) == codeConflict {
		return l.joinedBefore(ctx, code)
	}
	if err != nil {
		return bridge.GroupJoin{}, l.joinRefusal(err)
	}
	if request, pending := answer.GetOptionalChildByTag("membership_approval_request"); pending {
		jid, _ := request.Attrs["jid"].(types.JID)
		return bridge.GroupJoin{JID: convert.JID(jid), Status: bridge.GroupPending}, nil
	}
	group, _ := answer.GetOptionalChildByTag("group")
	jid, ok := group.Attrs["jid"].(types.JID)
	if !ok {
		return bridge.GroupJoin{}, unansweredChange(errors.New("the answer to joining a group names none"))
	}
	l.joined(ctx, jid)
	return bridge.GroupJoin{JID: convert.JID(jid), Status: bridge.GroupJoined}, nil
}

// joinedBefore returns the group that the account is in already.
func (l *link) joinedBefore(ctx context.Context, code string) (bridge.GroupJoin, error) {
	info, err := l.cli.GetGroupInfoFromLink(ctx, code)
	switch {
	case iqCode(err) != 0:
		return bridge.GroupJoin{}, l.joinRefusal(err)
	case err != nil:
		return bridge.GroupJoin{}, groupError(err)
	}
	l.joined(ctx, info.JID)
	return bridge.GroupJoin{JID: convert.JID(info.JID), Status: bridge.GroupJoined}, nil
}

// joined stores a group that the account is in from now on. If the network does
// not describe it now, it is asked again in the background.
func (l *link) joined(ctx context.Context, jid types.JID) {
	group := convert.JID(jid)
	l.members.Delete(group)
	l.modes.Delete(group)
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	info, err := l.cli.GetGroupInfo(ctx, jid)
	if err != nil {
		l.m.log.Debug().Str("group", group.Redacted()).Str("error", bridge.Redact(err.Error())).Msg("a group that was joined is not described yet")
		l.m.groups.forget(group)
		l.m.groups.wantAll(group)
		return
	}
	l.m.saveOwnChange(convert.GroupFacts(info)...)
}

// joinRefusal names the reason why a group was not joined.
func (l *link) joinRefusal(err error) error {
	switch iqCode(err) {
	case 0:
		return unansweredChange(err)
	case codeBlocked, codeNotFound, 400:
		return bridge.Fail(bridge.CodeInviteInvalid, "no group has this link: check it").Because(err)
	case codeGone:
		return bridge.Fail(bridge.CodeInviteInvalid, "the group's admins have taken this link back: ask them for the new one").Because(err)
	case codeUnauthorized, codeForbidden:
		return bridge.Fail(bridge.CodeJoinRefused, "the account may not join this group by its link, perhaps because it was removed from it: ask an admin to add it").Because(err)
	case codeConflict:
		return bridge.Fail(bridge.CodeAlreadyInGroup, "the account is in this group already").Because(err)
	case codeFull:
		return groupFull(err)
	case codeRateLimited:
		return rateLimited(err)
	}
	return l.refusedChange(err)
}
