package convert

import (
	"cmp"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// MessageFacts interprets a decrypted message. It never fails: unknown content
// becomes a message with its type's name and empty content.
func MessageFacts(e *events.Message, own bridge.JID, open opener) []bridge.Fact {
	if notification := e.Message.GetProtocolMessage().GetHistorySyncNotification(); notification != nil && e.Info.IsFromMe && e.Info.Sender.Device == 0 {
		return []bridge.Fact{bridge.HistoryPart{
			HistoryStep: bridge.HistoryStep{ID: ID(e.Info.ID)}, Kind: notification.GetSyncType().String(), Chunk: int(notification.GetChunkOrder()), Notification: encoded(notification),
		}}
	}
	if ignoredChat(e.Info.MessageSource) {
		return statusDeletion(e, own)
	}
	s := sourceOf(e.Info, own)
	raw := cmp.Or(e.RawMessage.GetDeviceSentMessage().GetMessage(), e.RawMessage)
	facts := append(s.people(e.Info), bundleFacts(e)...)
	for _, chat := range s.chats {
		content := contentFacts(e, s, chat, raw, open)
		shows := false // under its own id
		for i, fact := range content {
			switch f := fact.(type) {
			case bridge.Message:
				shows = true
				f.WireID = wireIDOf(e.Info.ID)
				content[i] = f
			case bridge.Edit:
				shows = shows || f.Upload != nil
			}
		}
		facts = append(facts, content...)
		// A key for a group, which comes before its message, says nothing of the id.
		if !shows && contentField(unwrap(raw).msg) != nil {
			facts = append(facts, bridge.NoMessage{Chat: chat, ID: ID(e.Info.ID), FromMe: s.fromMe, Sender: s.sender})
		}
	}
	return facts
}

// statusDeletion returns the update for a deleted status. Statuses are not stored, but answers to them contain copies.
func statusDeletion(e *events.Message, own bridge.JID) []bridge.Fact {
	protocol, chat := unwrap(e.Message).msg.GetProtocolMessage(), JID(e.Info.Chat)
	if protocol.GetType() != waE2E.ProtocolMessage_REVOKE || protocol.GetKey() == nil || chat == "" {
		return nil
	}
	return protocolFacts(protocol, sourceOf(e.Info, own), chat, bridge.At(e.Info.Timestamp))
}

// encoded marshals a message that was decoded or composed a moment ago, which cannot fail.
func encoded(msg proto.Message) []byte {
	data, err := proto.Marshal(msg)
	if err != nil {
		return nil
	}
	return data
}

// contentFacts interprets the content for one chat.
func contentFacts(e *events.Message, s source, chat bridge.JID, raw *waE2E.Message, open opener) []bridge.Fact {
	msg, id, at := unwrap(raw).msg, ID(e.Info.ID), bridge.At(e.Info.Timestamp)
	protocol, reaction, pin, keep := msg.GetProtocolMessage(), msg.GetReactionMessage(), msg.GetPinInChatMessage(), msg.GetKeepInChatMessage()
	option, comment, bot := msg.GetPollAddOptionMessage(), msg.GetCommentMessage(), e.Info.MsgBotInfo
	switch {
	case protocol != nil:
		return protocolFacts(protocol, s, chat, at)
	case bot.EditTargetID != "": // an answer that a bot writes bit by bit
		return editFacts(raw, s, chat, bot.EditTargetID, claimed(bot.EditSenderTimestampMS.UnixMilli(), at))
	case reaction != nil:
		return reactionFacts(reaction, s, chat, at)
	case pin != nil:
		return pinFacts(msg, s, chat, at)
	case keep != nil:
		return keepFacts(keep, s, chat, at)
	case option != nil:
		return optionFacts(option.GetAddOption(), s, chat, option.GetPollCreationMessageKey().GetID(), at)
	case comment != nil:
		return commentFacts(msg, comment.GetTargetMessageKey(), s, bridge.Encrypted{Chat: chat, ID: id, PushName: e.Info.PushName, Timestamp: at})
	}
	if part, ok := encryptedIn(msg); ok {
		return encryptedFacts(e, s, chat, msg, part, open)
	}
	if part := partOf(msg); part != nil {
		return partFacts(part, describe(raw, s, chat, id, at), e.Info.PushName)
	}
	if !Shows(raw) {
		return nil
	}
	message := describe(raw, s, chat, id, at)
	message.PushName = e.Info.PushName
	facts := append([]bridge.Fact{message}, labelFacts(chat, s.sender, contextInfo(msg).GetMemberLabel(), at)...)
	if message.Expiration > 0 && !chat.IsGroup() {
		facts = append(facts, bridge.ChatTimer{Chat: chat, Seconds: message.Expiration, SetAt: setAt(contextInfo(msg).GetEphemeralSettingTimestamp(), at)})
	}
	return facts
}

// Shows reports whether a message has content of its own, also of a kind that the library
// does not know. What belongs to the protocol has none.
func Shows(raw *waE2E.Message) bool {
	msg := unwrap(raw).msg
	if field := contentField(msg); field != nil {
		return !housekeeping[string(field.Name())]
	}
	return len(msg.ProtoReflect().GetUnknown()) > 0
}

// UnreadableFacts returns the type and the whole protobuf of a message that could not be
// interpreted.
func UnreadableFacts(e *events.Message, own bridge.JID) []bridge.Fact {
	kind := typeName(e.Message)
	if housekeeping[kind] || ignoredChat(e.Info.MessageSource) {
		return nil
	}
	return sourceOf(e.Info, own).bare(e.Info, bridge.Message{MessageType: kind, Raw: encoded(e.RawMessage)})
}

// PlaceholderFacts returns a placeholder for a message that cannot be decrypted, unless its sender
// says that nothing should be shown for it.
func PlaceholderFacts(e *events.UndecryptableMessage, own bridge.JID) []bridge.Fact {
	if ignoredChat(e.Info.MessageSource) || e.DecryptFailMode == events.DecryptFailHide || e.Info.Category == "peer" {
		return nil
	}
	s := sourceOf(e.Info, own)
	return append(s.people(e.Info), s.bare(e.Info, bridge.Message{
		MessageType: bridge.TypeUndecryptable, ViewOnce: e.UnavailableType == events.UnavailableTypeViewOnce,
	})...)
}

// source is the sender of a message and the chats that show it.
type source struct {
	sender     bridge.JID
	fromMe     bool
	chats      []bridge.JID
	identities []bridge.Fact
}

// sourceOf reads the sender and the chat. A message to a broadcast list shows
// in the chat with its sender; an own one in the chat of every recipient.
func sourceOf(info types.MessageInfo, own bridge.JID) source {
	s := source{sender: JID(info.Sender), fromMe: info.IsFromMe}
	if s.fromMe && own != "" {
		s.sender = own
	}
	if info.IsFromMe {
		s.identities = identityFacts(info.Chat, info.RecipientAlt)
	} else {
		s.identities = identityFacts(info.Sender, info.SenderAlt)
	}
	switch {
	case info.IsIncomingBroadcast():
		s.chats = []bridge.JID{JID(info.Sender)}
	case info.Chat.Server == types.BroadcastServer:
		for _, recipient := range info.BroadcastRecipients {
			s.identities = append(s.identities, identityFacts(recipient.PN, recipient.LID)...)
			if chat := JID(cmp.Or(recipient.PN, recipient.LID)); chat != "" {
				s.chats = append(s.chats, chat)
			}
		}
	default:
		if chat := JID(info.Chat); chat != "" {
			s.chats = []bridge.JID{chat}
		}
	}
	return s
}

// people returns the facts about the sender.
func (s source) people(info types.MessageInfo) []bridge.Fact {
	if info.IsFromMe {
		return s.identities
	}
	contact := bridge.Contact{JID: s.sender}
	if info.PushName != "-" {
		contact.PushName = optional(info.PushName)
	}
	if verified := info.VerifiedName; verified != nil {
		contact.BusinessName = optional(verified.Details.GetVerifiedName())
	}
	if contact.PushName != nil || contact.BusinessName != nil {
		return append(s.identities, contact)
	}
	return s.identities
}

// bare returns a message without content in each of its chats.
func (s source) bare(info types.MessageInfo, m bridge.Message) (facts []bridge.Fact) {
	m.ID, m.WireID, m.FromMe, m.SenderJID = ID(info.ID), wireIDOf(info.ID), s.fromMe, s.sender
	m.PushName, m.Timestamp = info.PushName, bridge.At(info.Timestamp)
	for _, chat := range s.chats {
		m.Chat = chat
		facts = append(facts, m)
	}
	return facts
}

// ignoredChat reports whether bridged ignores a chat: status updates and channels.
func ignoredChat(s types.MessageSource) bool {
	return s.Chat.User == "status" && s.Chat.Server == types.BroadcastServer || s.Chat.Server == types.NewsletterServer
}

// describe makes the message that is stored.
func describe(raw *waE2E.Message, s source, chat bridge.JID, id string, at bridge.Time) bridge.Message {
	inner := unwrap(raw)
	context := contextInfo(inner.msg)
	content := withHeadline(read(inner.msg), referralOf(context))
	content.parts.AlbumID = albumOf(inner.msg)
	message := bridge.Message{
		Chat: chat, ID: id, FromMe: s.fromMe, SenderJID: s.sender, Timestamp: at,
		MessageType: typeName(inner.msg), Content: content.text, Parts: content.parts,
		ContextInfo: contextOf(context), Quoted: quotedOf(context, chat), Media: descriptor(content.file), Poll: content.poll,
		Raw: encoded(raw), ViewOnce: inner.viewOnce, Expiration: context.GetExpiration(),
		IsForwarded: context.GetIsForwarded() || context.GetForwardingScore() > 0,
	}
	if message.Media != nil {
		message.Media.ViewOnce = inner.viewOnce
	}
	if s.fromMe {
		message.Status = new(bridge.DeliverySent)
	}
	return message
}

// protocolFacts returns changes of other messages and of the chat.
func protocolFacts(p *waE2E.ProtocolMessage, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	switch p.GetType() {
	case waE2E.ProtocolMessage_REVOKE:
		return []bridge.Fact{bridge.Deletion{Chat: chat, Target: ID(p.GetKey().GetID()), By: s.sender, Timestamp: at}}
	case waE2E.ProtocolMessage_MESSAGE_EDIT:
		return editFacts(p.GetEditedMessage(), s, chat, p.GetKey().GetID(), claimed(p.GetTimestampMS(), at))
	case waE2E.ProtocolMessage_GROUP_MEMBER_LABEL_CHANGE:
		return labelFacts(chat, s.sender, p.GetMemberLabel(), at)
	case waE2E.ProtocolMessage_EPHEMERAL_SETTING:
		if chat.IsGroup() {
			return nil // a group's timer comes from the network, not from any member
		}
		return []bridge.Fact{bridge.ChatTimer{Chat: chat, Seconds: p.GetEphemeralExpiration(), SetAt: setAt(p.GetEphemeralSettingTimestamp(), at)}}
	}
	return nil
}

func reactionFacts(r *waE2E.ReactionMessage, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	return []bridge.Fact{bridge.ReactionChange{
		Chat: chat, Target: ID(r.GetKey().GetID()), Sender: s.sender, Emoji: r.GetText(),
		Timestamp: claimed(r.GetSenderTimestampMS(), at),
	}}
}

// maxAhead limits how far a sender's clock may be ahead of the network's.
const maxAhead = 24 * time.Hour

// claimed returns the sender's own time of a change, which is finer than the network's
// whole seconds. One from the future would outlast every later change: then the network's
// time at counts.
func claimed(ms int64, at bridge.Time) bridge.Time {
	if own := bridge.Millis(ms); ms > 0 && own.Before(at.Add(maxAhead)) {
		return own
	}
	return at
}

// settingTime returns when a chat's timer was set. It returns 0 if that is missing or in the future.
func settingTime(seconds int64, now time.Time) bridge.Time {
	if at := time.Unix(seconds, 0); seconds > 0 && at.Before(now.Add(maxAhead)) {
		return bridge.At(at)
	}
	return bridge.Time{}
}

// setAt returns the time at which a message claims that a chat's timer was set, else the
// message's own.
func setAt(seconds int64, at bridge.Time) bridge.Time {
	if set := settingTime(seconds, at.Time); !set.IsZero() {
		return set
	}
	return at
}

// deliveries are how far the receipts of recipients move a message.
var deliveries = map[types.ReceiptType]bridge.Delivery{
	types.ReceiptTypeDelivered: bridge.DeliveryDelivered, types.ReceiptTypeInactive: bridge.DeliveryDelivered,
	types.ReceiptTypeRead: bridge.DeliveryRead, types.ReceiptTypePlayed: bridge.DeliveryPlayed,
}

// ReceiptFacts returns how far own messages have got, and for receipts of own devices
// the messages that were read on them.
func ReceiptFacts(e *events.Receipt) []bridge.Fact {
	chat, from := JID(e.Chat), JID(e.Sender)
	if e.IsFromMe {
		if chat == "" || e.Type != types.ReceiptTypeRead && e.Type != types.ReceiptTypeReadSelf {
			return nil
		}
		read := bridge.ChatRead{Chat: chat}
		for _, id := range e.MessageIDs {
			read.IDs = append(read.IDs, ID(id))
		}
		return []bridge.Fact{read}
	}
	if chat.Server() == bridge.ServerBroadcast {
		chat = from
	}
	status, chat := deliveries[e.Type], cmp.Or(chat, from)
	if status == "" || chat == "" {
		return nil
	}
	at := e.Timestamp
	if at.IsZero() {
		at = time.Now()
	}
	receipt := bridge.Receipt{Chat: chat, IDs: e.MessageIDs, From: from, Status: status, Timestamp: bridge.At(at)}
	return append(identityFacts(e.Sender, e.SenderAlt), receipt)
}

// labelFacts returns the label that a member has chosen for themselves in a group. It is in a message
// of its own or part of any other one. labelFacts returns nil without a label.
func labelFacts(chat, member bridge.JID, label *waE2E.MemberLabel, at bridge.Time) []bridge.Fact {
	if label == nil || !chat.IsGroup() {
		return nil
	}
	return []bridge.Fact{bridge.MemberLabel{Chat: chat, Member: member, Label: label.GetLabel(), SetAt: setAt(label.GetLabelTimestamp(), at)}}
}
