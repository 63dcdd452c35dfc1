package wa

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"

	"bridged/internal/bridge"
)

// labelFacts returns how a member describes themselves in a group, as they say in a
// message of its own, and beside all others; nil where they say nothing.
func labelFacts(chat, member bridge.JID, label *waE2E.MemberLabel, at bridge.Time) []bridge.Fact {
	if label == nil || !chat.IsGroup() {
		return nil
	}
	return []bridge.Fact{bridge.MemberLabel{Chat: chat, Member: member, Label: label.GetLabel(), SetAt: setAt(label.GetLabelTimestamp(), at)}}
}

// historicLabels returns how the members of a group of the account describe
// themselves, as the phone tells.
func (l *link) historicLabels(chat *waHistorySync.Conversation) (facts []bridge.Fact) {
	group, isIn := parseToBridge(chat.GetID()), false
	pn, lid := l.m.own()
	for _, p := range chat.GetParticipant() {
		member := parseToBridge(p.GetUserJID())
		isIn = isIn || member != "" && (member == pn || member == lid)
		if p.GetMemberLabel().GetLabel() != "" {
			facts = append(facts, labelFacts(group, member, p.GetMemberLabel(), bridge.Millis(0))...)
		}
	}
	if !isIn {
		return nil // what is left of a group that the account is not in any more
	}
	return facts
}
