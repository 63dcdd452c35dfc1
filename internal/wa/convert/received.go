package convert

import (
	"cmp"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// MessageFacts interprets a decrypted message. It never fails: what it
// does not understand becomes a message with its type name and empty content,
// so no message can block the queue.
func MessageFacts(e *events.Message, own bridge.JID, open opener) []bridge.Fact {
	if part, is := historyPartOf(e); is {
		return []bridge.Fact{part}
	}
	if ignoredChat(e.Info.MessageSource) {
		return nil
	}
	s := sourceOf(e.Info, own)
	raw := e.RawMessage
	if inner := raw.GetDeviceSentMessage().GetMessage(); inner != nil {
		raw = inner
	}
	facts := s.people(e.Info)
	for _, chat := range s.chats {
		content := contentFacts(e, s, chat, raw, open)
		nameOnWire(content, e.Info.ID)
		facts = append(facts, content...)
		if isNoMessage(raw, content) {
			facts = append(facts, bridge.NoMessage{Chat: chat, ID: ID(e.Info.ID), FromMe: s.fromMe, Sender: s.sender})
		}
	}
	return facts
}

// nameOnWire enters the id of the wire into the message that has a made-up one.
func nameOnWire(facts []bridge.Fact, given string) {
	wire := wireIDOf(given)
	if wire == "" {
		return
	}
	for i, fact := range facts {
		if m, is := fact.(bridge.Message); is && m.ID == ID(given) {
			m.WireID = wire
			facts[i] = m
		}
	}
}

// isNoMessage reports whether the content that was read as facts shows nothing under
// its own id. A key for a group, which comes before its message, says nothing of that.
func isNoMessage(raw *waE2E.Message, facts []bridge.Fact) bool {
	return contentField(unwrap(raw).msg) != nil && !slices.ContainsFunc(facts, func(fact bridge.Fact) bool {
		edit, isEdit := fact.(bridge.Edit)
		_, isMessage := fact.(bridge.Message)
		return isMessage || isEdit && edit.Upload != nil
	})
}

// contentFacts interprets the content for one chat.
func contentFacts(e *events.Message, s source, chat bridge.JID, raw *waE2E.Message, open opener) []bridge.Fact {
	inner := unwrap(raw)
	msg := inner.msg
	at := bridge.At(e.Info.Timestamp)
	switch {
	case msg.GetProtocolMessage() != nil:
		return protocolFacts(msg.GetProtocolMessage(), s, chat, at)
	case e.Info.MsgBotInfo.EditTargetID != "": // an answer that a bot writes bit by bit
		return editFacts(raw, s, chat, e.Info.MsgBotInfo.EditTargetID, claimed(e.Info.MsgBotInfo.EditSenderTimestampMS.UnixMilli(), at))
	case msg.GetReactionMessage() != nil:
		return reactionFacts(msg.GetReactionMessage(), s, chat, at)
	case msg.GetPinInChatMessage() != nil:
		return pinFacts(msg, s, chat, at)
	case msg.GetKeepInChatMessage() != nil:
		return keepFacts(msg.GetKeepInChatMessage(), s, chat, at)
	case msg.GetPollAddOptionMessage() != nil:
		return optionFacts(msg.GetPollAddOptionMessage(), s, chat, msg.GetPollAddOptionMessage().GetPollCreationMessageKey().GetID(), at)
	case msg.GetCommentMessage() != nil:
		comment := msg.GetCommentMessage()
		return commentFacts(msg, comment.GetTargetMessageKey(), s,
			bridge.Encrypted{Chat: chat, ID: ID(e.Info.ID), PushName: e.Info.PushName, Timestamp: at})
	}
	if part, is := encryptedIn(msg); is {
		return encryptedFacts(e, s, chat, msg, part, open)
	}
	if part := partOf(msg); part != nil {
		return partFacts(part, describe(raw, s, chat, ID(e.Info.ID), at), e.Info.PushName)
	}
	if !Shows(raw) {
		return nil
	}
	message := describe(raw, s, chat, ID(e.Info.ID), at)
	message.PushName = e.Info.PushName
	facts := append([]bridge.Fact{message}, labelFacts(chat, s.sender, contextInfo(msg).GetMemberLabel(), at)...)
	if message.Expiration > 0 && !chat.IsGroup() {
		facts = append(facts, bridge.ChatTimer{Chat: chat, Seconds: message.Expiration, SetAt: setAt(contextInfo(msg).GetEphemeralSettingTimestamp(), at)})
	}
	return facts
}

// Shows reports whether a message has content of its own: a kind that the library
// does not know counts, what belongs to the protocol does not.
func Shows(raw *waE2E.Message) bool {
	msg := unwrap(raw).msg
	if field := contentField(msg); field != nil {
		return !housekeeping[string(field.Name())]
	}
	return len(msg.ProtoReflect().GetUnknown()) > 0
}

// UnreadableFacts returns what is kept of a message that could not be interpreted: its
// type, and the whole protobuf.
func UnreadableFacts(e *events.Message, own bridge.JID) []bridge.Fact {
	kind := typeName(e.Message)
	if housekeeping[kind] || ignoredChat(e.Info.MessageSource) {
		return nil
	}
	raw, err := proto.Marshal(e.RawMessage)
	if err != nil {
		raw = nil
	}
	return sourceOf(e.Info, own).bare(e.Info, bridge.Message{MessageType: kind, Raw: raw})
}

// PlaceholderFacts keep the place of a message that cannot be decrypted,
// unless its sender says that nothing shows when it is missing.
func PlaceholderFacts(e *events.UndecryptableMessage, own bridge.JID) []bridge.Fact {
	if ignoredChat(e.Info.MessageSource) || e.DecryptFailMode == events.DecryptFailHide || e.Info.Category == "peer" {
		return nil
	}
	s := sourceOf(e.Info, own)
	return append(s.people(e.Info), s.bare(e.Info, bridge.Message{
		MessageType: bridge.TypeUndecryptable, ViewOnce: e.UnavailableType == events.UnavailableTypeViewOnce,
	})...)
}

// source is who wrote, and in which chats it shows.
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

// people returns the facts about who wrote.
func (s source) people(info types.MessageInfo) []bridge.Fact {
	facts := slices.Clone(s.identities)
	if info.IsFromMe {
		return facts
	}
	contact := bridge.Contact{JID: s.sender}
	if info.PushName != "-" {
		contact.PushName = optional(info.PushName)
	}
	if verified := info.VerifiedName; verified != nil {
		contact.BusinessName = optional(verified.Details.GetVerifiedName())
	}
	if contact.PushName != nil || contact.BusinessName != nil {
		facts = append(facts, contact)
	}
	return facts
}

// bare returns a message in each chat of which nothing but its stanza was read.
func (s source) bare(info types.MessageInfo, m bridge.Message) (facts []bridge.Fact) {
	m.ID, m.WireID, m.FromMe, m.SenderJID = ID(info.ID), wireIDOf(info.ID), s.fromMe, s.sender
	m.PushName, m.Timestamp = info.PushName, bridge.At(info.Timestamp)
	for _, chat := range s.chats {
		m.Chat = chat
		facts = append(facts, m)
	}
	return facts
}

// ignoredChat reports whether a chat is none of the account's chats:
// status updates and channels.
func ignoredChat(s types.MessageSource) bool {
	return s.Chat.User == "status" && s.Chat.Server == types.BroadcastServer || s.Chat.Server == types.NewsletterServer
}

// describe makes the message that the store keeps.
func describe(raw *waE2E.Message, s source, chat bridge.JID, id string, at bridge.Time) bridge.Message {
	inner := unwrap(raw)
	encoded, err := proto.Marshal(raw)
	if err != nil {
		encoded = nil // cannot happen: it was decoded or composed a moment ago
	}
	context, content := contextInfo(inner.msg), read(inner.msg)
	content = withHeadline(content, referralOf(context))
	content.parts.AlbumID = albumOf(inner.msg)
	message := bridge.Message{
		Chat: chat, ID: id, FromMe: s.fromMe, SenderJID: s.sender, Timestamp: at,
		MessageType: typeName(inner.msg), Content: content.text, Parts: content.parts,
		ContextInfo: contextOf(context), Media: descriptor(content.file), Poll: content.poll,
		Raw: encoded, ViewOnce: inner.viewOnce, Expiration: context.GetExpiration(),
		IsForwarded: context.GetIsForwarded() || context.GetForwardingScore() > 0,
	}
	if s.fromMe {
		sent := bridge.DeliverySent
		message.Status = &sent
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
			return nil // a group's timer is told by the network, not by any member
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

// maxAhead is how far a sender's clock may be ahead of the network's.
const maxAhead = 24 * time.Hour

// claimed returns the sender's own time of a change, which is finer than the
// network's whole seconds. A claim from the future would outlast every later
// change: then the network's time at counts.
func claimed(ms int64, at bridge.Time) bridge.Time {
	if own := bridge.Millis(ms); ms > 0 && own.Before(at.Add(maxAhead)) {
		return own
	}
	return at
}

// settingTime returns when a chat's timer was set, zero where that is not said or
// is in the future.
func settingTime(seconds int64, now time.Time) bridge.Time {
	if at := time.Unix(seconds, 0); seconds > 0 && at.Before(now.Add(maxAhead)) {
		return bridge.At(at)
	}
	return bridge.Time{}
}

// setAt returns when a chat's timer was set by what a message claims, else the
// message's own time.
func setAt(seconds int64, at bridge.Time) bridge.Time {
	if set := settingTime(seconds, at.Time); !set.IsZero() {
		return set
	}
	return at
}

// ReceiptFacts move own messages forward. Receipts of own devices say nothing
// of the recipients, but what the account has read.
func ReceiptFacts(e *events.Receipt) []bridge.Fact {
	if e.IsFromMe {
		return readFacts(e)
	}
	var status bridge.Delivery
	switch e.Type {
	case types.ReceiptTypeDelivered, types.ReceiptTypeInactive:
		status = bridge.DeliveryDelivered
	case types.ReceiptTypeRead:
		status = bridge.DeliveryRead
	case types.ReceiptTypePlayed:
		status = bridge.DeliveryPlayed
	default:
		return nil
	}
	chat, from := JID(e.Chat), JID(e.Sender)
	if chat == "" || chat.Server() == bridge.ServerBroadcast {
		chat = from
	}
	if chat == "" {
		return nil
	}
	at := e.Timestamp
	if at.IsZero() {
		at = time.Now()
	}
	return append(identityFacts(e.Sender, e.SenderAlt), bridge.Receipt{Chat: chat, IDs: e.MessageIDs, From: from, Status: status, Timestamp: bridge.At(at)})
}

// historyPartOf returns the part of the history that a message tells of. Only
// the account's phone has any.
func historyPartOf(e *events.Message) (bridge.HistoryPart, bool) {
	notification := e.Message.GetProtocolMessage().GetHistorySyncNotification()
	if notification == nil || !e.Info.IsFromMe || e.Info.Sender.Device != 0 {
		return bridge.HistoryPart{}, false
	}
	encoded, err := proto.Marshal(notification)
	if err != nil {
		return bridge.HistoryPart{}, false // cannot happen: it was decoded a moment ago
	}
	return bridge.HistoryPart{ID: ID(e.Info.ID), Kind: notification.GetSyncType().String(), Chunk: int(notification.GetChunkOrder()), Notification: encoded}, true
}

// labelFacts returns how a member describes themselves in a group, as they say in a
// message of its own, and beside all others; nil where they say nothing.
func labelFacts(chat, member bridge.JID, label *waE2E.MemberLabel, at bridge.Time) []bridge.Fact {
	if label == nil || !chat.IsGroup() {
		return nil
	}
	return []bridge.Fact{bridge.MemberLabel{Chat: chat, Member: member, Label: label.GetLabel(), SetAt: setAt(label.GetLabelTimestamp(), at)}}
}
