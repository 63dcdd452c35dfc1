package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// quotedOf returns the copy of the message that a message in a chat quotes; nil without a
// quote. The apps set remoteJID (waE2E.ContextInfo) only for a message of another chat: a
// group's that is answered in private, or a status.
func quotedOf(c *waE2E.ContextInfo, chat bridge.JID) *bridge.Quoted {
	id := ID(c.GetStanzaID())
	if id == "" {
		return nil
	}
	quoted := &bridge.Quoted{
		MsgID: id, ChatJID: chat, SenderJID: ParseJID(c.GetParticipant()), MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded,
	}
	if remote := c.GetRemoteJID(); remote != "" {
		quoted.ChatJID = ParseJID(remote)
	}
	if c.GetQuotedMessage() != nil {
		msg := unwrap(c.GetQuotedMessage()).msg
		content := read(msg)
		quoted.MessageType, quoted.Content = typeName(msg), content.text
		if file := descriptor(content.file); file != nil {
			quoted.FileName = file.FileName
		}
	}
	return quoted
}

// WithoutQuote returns the protobuf of a message without the copy of the message that it
// quotes. The reference stays. What cannot be read is returned as it is.
func WithoutQuote(raw []byte) []byte {
	msg := new(waE2E.Message)
	if proto.Unmarshal(raw, msg) != nil {
		return raw
	}
	context := contextInfo(unwrap(msg).inner)
	if context.GetQuotedMessage() == nil {
		return raw
	}
	context.QuotedMessage = nil
	return encoded(msg)
}
