package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

func readGroupInvite(msg *waE2E.Message) shown {
	invite := msg.GetGroupInviteMessage()
	group := ParseJID(invite.GetGroupJID())
	if !group.IsGroup() {
		group = ""
	}
	return shown{text: lines(invite.GetGroupName(), invite.GetCaption()), parts: bridge.Parts{GroupInvite: &bridge.GroupInvite{
		JID: group, Name: invite.GetGroupName(), Code: invite.GetInviteCode(), ExpiresAt: moment(invite.GetInviteExpiration())}}}
}

// readChannelInvite reads the invitation to follow a channel, or to lead it.
func readChannelInvite(msg *waE2E.Message) shown {
	if invite := msg.GetNewsletterAdminInviteMessage(); invite != nil {
		return shown{text: lines(invite.GetNewsletterName(), invite.GetCaption())}
	}
	invite := msg.GetNewsletterFollowerInviteMessageV2()
	return shown{text: lines(invite.GetNewsletterName(), invite.GetCaption())}
}
