package convert

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// editFacts returns an edit of the message with an id. It ignores an edit that has no content, or whose content is not
// a message, because it would only empty the stored message.
func editFacts(edited *waE2E.Message, s source, chat bridge.JID, id string, at bridge.Time) []bridge.Fact {
	if edited == nil {
		return nil
	}
	field := contentField(unwrap(edited).msg)
	if field == nil || isWrapper(field) || housekeeping[string(field.Name())] {
		return nil
	}
	target := ID(id)
	return []bridge.Fact{bridge.Edit{Chat: chat, Target: target, Editor: s.sender, Timestamp: at, New: describe(edited, s, chat, target, at)}}
}

// MergeEdit returns a stored message with the caption and the mentions of an edit: phones send edited captions without
// the file. ok is false if the message cannot have a caption.
func MergeEdit(original, edit []byte) (merged []byte, ok bool) {
	defer func() {
		if recover() != nil { // a malformed edit must not prevent its message from being stored
			merged, ok = nil, false
		}
	}()
	msg, changed := new(waE2E.Message), new(waE2E.Message)
	if proto.Unmarshal(original, msg) != nil || proto.Unmarshal(edit, changed) != nil {
		return nil, false
	}
	content, newContent := unwrap(msg).inner, unwrap(changed).msg
	if !setCaption(content, read(newContent).text) {
		return nil, false
	}
	replaceMentions(content, contextInfo(newContent))
	merged, err := proto.Marshal(msg)
	return merged, err == nil
}

// setCaption sets the caption of a message. It returns false if the message's kind has none.
func setCaption(msg *waE2E.Message, caption string) bool {
	switch {
	case msg.ImageMessage != nil:
		msg.ImageMessage.Caption = &caption
	case msg.VideoMessage != nil:
		msg.VideoMessage.Caption = &caption
	case msg.PtvMessage != nil:
		msg.PtvMessage.Caption = &caption
	case msg.DocumentMessage != nil:
		msg.DocumentMessage.Caption = &caption
	default:
		return false
	}
	return true
}

// replaceMentions replaces the mentions of a message by those of another context. The message's quote stays.
func replaceMentions(msg *waE2E.Message, by *waE2E.ContextInfo) {
	context := contextInfo(msg)
	if context == nil {
		if len(by.GetMentionedJID()) == 0 && by.GetNonJIDMentions() == 0 {
			return
		}
		content, field := contextField(msg)
		if field == nil {
			return
		}
		context = new(waE2E.ContextInfo)
		content.Set(field, protoreflect.ValueOfMessage(context.ProtoReflect()))
	}
	context.MentionedJID, context.NonJIDMentions = by.GetMentionedJID(), nil
	if n := by.GetNonJIDMentions(); n > 0 {
		context.NonJIDMentions = proto.Uint32(n)
	}
}

// EditedContent returns the content of an edit of an own message. An edit of a caption is sent without the file, which
// does not change.
func EditedContent(target bridge.Message, text string) *waE2E.Message {
	switch target.MessageType {
	case "imageMessage":
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: &text}}
	case "videoMessage":
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: &text}}
	case "documentMessage":
		return captioned(&waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: &text}})
	}
	return &waE2E.Message{Conversation: &text}
}

// OwnEdit returns the update for an edit by the account. The stored content is the caller's text.
func OwnEdit(pn, chat bridge.JID, e bridge.TextEdit, edited *waE2E.Message, at bridge.Time) bridge.Fact {
	content := describe(edited, source{sender: pn, fromMe: true}, chat, e.Target.ID, at)
	content.Content = e.Text
	return bridge.Edit{Chat: chat, Target: e.Target.ID, Editor: pn, Timestamp: at, New: content}
}

// partOf returns the association of an unwrapped message that is a part of another message. It returns nil for a message
// of its own, such as a picture of an album.
func partOf(msg *waE2E.Message) *waE2E.MessageAssociation {
	part := msg.GetMessageContextInfo().GetMessageAssociation()
	if _, ok := replaces[part.GetAssociationType()]; !ok {
		return nil
	}
	return part
}

// replaces lists the kinds of parts, and whether a part replaces the message. Phones send a small picture or video first
// and its HD upload later, which replaces it. The video of a motion photo, and a copy in a codec that fewer programs
// play, are ignored.
var replaces = map[waE2E.MessageAssociation_AssociationType]bool{
	waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD: true, waE2E.MessageAssociation_HD_VIDEO_DUAL_UPLOAD: true,
	waE2E.MessageAssociation_HEVC_VIDEO_DUAL_UPLOAD: false, waE2E.MessageAssociation_MOTION_PHOTO: false,
}

// partFacts returns the update for a part of a message.
func partFacts(part *waE2E.MessageAssociation, message bridge.Message, pushName string) []bridge.Fact {
	if !replaces[part.GetAssociationType()] {
		return nil
	}
	message.PushName = pushName
	hd := message
	if hd.ID = ID(part.GetParentMessageKey().GetID()); hd.ID == "" {
		return []bridge.Fact{message}
	}
	return []bridge.Fact{bridge.Edit{Chat: message.Chat, Target: hd.ID, Editor: message.SenderJID, Timestamp: message.Timestamp, New: hd, Upload: &message}}
}

const (
	longestPin = 30 * 24 * time.Hour // the longest pin that the apps offer; longer ones are cut to it
	defaultPin = 7 * 24 * time.Hour  // the apps' default, for a pin without a duration
)

// pinFacts returns the update for a message that was pinned or unpinned.
func pinFacts(msg *waE2E.Message, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	p := msg.GetPinInChatMessage()
	pin := bridge.Pin{Chat: chat, Target: ID(p.GetKey().GetID()), By: s.sender, Timestamp: withinSecond(p.GetSenderTimestampMS(), at)}
	switch p.GetType() {
	case waE2E.PinInChatMessage_PIN_FOR_ALL:
		pin.Until = pinEnd(msg.GetMessageContextInfo().GetMessageAddOnDurationInSecs(), at)
		return []bridge.Fact{pin}
	case waE2E.PinInChatMessage_UNPIN_FOR_ALL:
		return []bridge.Fact{pin}
	}
	return nil
}

// PinMessage returns the message that pins another one, or unpins it if length is zero.
func PinMessage(target *waCommon.MessageKey, length time.Duration, at time.Time) *waE2E.Message {
	kind := waE2E.PinInChatMessage_PIN_FOR_ALL
	if length == 0 {
		kind = waE2E.PinInChatMessage_UNPIN_FOR_ALL
	}
	return &waE2E.Message{
		PinInChatMessage: &waE2E.PinInChatMessage{Key: target, Type: &kind, SenderTimestampMS: proto.Int64(at.UnixMilli())},
		MessageContextInfo: &waE2E.MessageContextInfo{
			MessageAddOnDurationInSecs: proto.Uint32(uint32(length / time.Second)),
			MessageAddOnExpiryType:     waE2E.MessageContextInfo_STATIC.Enum(),
		},
	}
}

// OwnPin returns the update for a pin by the account that the network accepted at a time.
func OwnPin(pn, chat bridge.JID, pin *waE2E.Message, at bridge.Time) bridge.Fact {
	return pinFacts(pin, source{sender: pn, fromMe: true}, chat, at)[0]
}

func pinEnd(seconds uint32, at bridge.Time) bridge.Time {
	lasts := time.Duration(seconds) * time.Second
	if seconds == 0 {
		lasts = defaultPin
	}
	return bridge.At(at.Add(min(lasts, longestPin)))
}

// keepFacts returns the update for a disappearing message that somebody keeps in the chat, or no longer keeps.
func keepFacts(k *waE2E.KeepInChatMessage, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	kept, undone := k.GetKeepType() == waE2E.KeepType_KEEP_FOR_ALL, k.GetKeepType() == waE2E.KeepType_UNDO_KEEP_FOR_ALL
	if !kept && !undone {
		return nil
	}
	return []bridge.Fact{bridge.Keep{Chat: chat, Target: ID(k.GetKey().GetID()), By: s.sender, Kept: kept, Timestamp: withinSecond(k.GetTimestampMS(), at)}}
}

// withinSecond returns the network's time of a change, which is in whole seconds, with the milliseconds of the sender's
// clock. If that clock is in another second, the result is the beginning or end of the network's second: a wrong clock
// must not make a change win over somebody else's change a second later.
func withinSecond(ms int64, at bridge.Time) bridge.Time {
	second := at.Truncate(time.Second)
	fraction := bridge.Millis(ms).Sub(second)
	return bridge.At(second.Add(max(0, min(fraction, 999*time.Millisecond))))
}

// optionFacts returns the update for an option that was added to a poll.
func optionFacts(option *waE2E.PollCreationMessage_Option, s source, chat bridge.JID, poll string, at bridge.Time) []bridge.Fact {
	return []bridge.Fact{bridge.PollOptionAdded{Chat: chat, Target: ID(poll), By: s.sender, Name: option.GetOptionName(), Timestamp: at}}
}
