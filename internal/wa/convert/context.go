package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// contextInfo returns the content's reference to other messages and people, or
// nil.
func contextInfo(msg *waE2E.Message) *waE2E.ContextInfo {
	field := contentField(msg)
	if field == nil || field.Message() == nil || field.IsList() {
		return nil
	}
	content := msg.ProtoReflect().Get(field).Message()
	inner := content.Descriptor().Fields().ByName("contextInfo")
	if inner == nil || !content.Has(inner) {
		return nil
	}
	context, _ := content.Get(inner).Message().Interface().(*waE2E.ContextInfo)
	return context
}

func contextOf(c *waE2E.ContextInfo) *bridge.ContextInfo {
	// Mentions without a JID are those of everybody, "@all".
	context := &bridge.ContextInfo{MentionsAll: c.GetNonJIDMentions() > 0}
	if c.GetStanzaID() == "" && len(c.GetMentionedJID()) == 0 && !context.MentionsAll {
		return nil
	}
	if id := ID(c.GetStanzaID()); id != "" {
		context.QuotedMsgID = &id
		context.QuotedSenderJID = ParseJID(c.GetParticipant())
	}
	context.MentionedJID = people(c.GetMentionedJID())
	return context
}

// maxListed bounds how many entries of a sender's list are looked at.
const maxListed = 4096

// people reads a list of people, each once, without what is none.
func people(list []string) []bridge.JID {
	found, seen := []bridge.JID{}, make(map[bridge.JID]bool)
	for _, entry := range list[:min(len(list), maxListed)] {
		if jid := ParseJID(entry); jid != "" && !seen[jid] {
			seen[jid] = true
			found = append(found, jid)
		}
	}
	return found
}
