package convert

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// editFacts returns an edit of the message with an id. An edit without content, or whose content is
// not a message, would only empty the message and is ignored.
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

// MergeEdit returns a stored message with the caption and the mentions of an edit that was received
// without the file. ok is false if the message cannot have a caption.
func MergeEdit(original, edit []byte) (merged []byte, ok bool) {
	defer func() {
		if recover() != nil { // an unreadable edit must not refuse a message
			merged, ok = nil, false
		}
	}()
	msg, changed := new(waE2E.Message), new(waE2E.Message)
	if proto.Unmarshal(original, msg) != nil || proto.Unmarshal(edit, changed) != nil {
		return nil, false
	}
	content, by := unwrap(msg).place, unwrap(changed).msg
	if !setCaption(content, read(by).text) {
		return nil, false
	}
	mergeMentions(content, contextInfo(by))
	merged, err := proto.Marshal(msg)
	return merged, err == nil
}

// setCaption reports whether the message is of a kind that has a caption.
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

// mergeMentions replaces the mentions. The message's quote stays.
func mergeMentions(msg *waE2E.Message, by *waE2E.ContextInfo) {
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

// EditedContent returns the new content of an own message. An edited caption goes
// without the file, which stays.
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

// OwnEdit returns an edit by the account. Its content is the caller's text, stored as a text message.
func OwnEdit(pn, chat bridge.JID, e bridge.TextEdit, edited *waE2E.Message, at bridge.Time) bridge.Fact {
	content := describe(edited, source{sender: pn, fromMe: true}, chat, e.Target.ID, at)
	content.Content = e.Text
	return bridge.Edit{Chat: chat, Target: e.Target.ID, Editor: pn, Timestamp: at, New: content}
}

// partOf returns how an unwrapped message is a part of another one. It returns nil for a message of
// its own, such as a picture of an album.
func partOf(msg *waE2E.Message) *waE2E.MessageAssociation {
	part := msg.GetMessageContextInfo().GetMessageAssociation()
	if _, ok := replaces[part.GetAssociationType()]; !ok {
		return nil
	}
	return part
}

// replaces lists the kinds of parts, and whether they replace the message: phones send a small
// picture or video first and its HD upload later. The video of a motion photo, and a copy in a codec
// that fewer programs play, change nothing.
var replaces = map[waE2E.MessageAssociation_AssociationType]bool{
	waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD: true, waE2E.MessageAssociation_HD_VIDEO_DUAL_UPLOAD: true,
	waE2E.MessageAssociation_HEVC_VIDEO_DUAL_UPLOAD: false, waE2E.MessageAssociation_MOTION_PHOTO: false,
}

// partFacts returns the change that a part makes.
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
	longestPin = 30 * 24 * time.Hour // that the apps offer; others end then
	usualPin   = 7 * 24 * time.Hour  // that the apps propose, for a pin that does not say
)

// pinFacts returns that a message is pinned or no longer is.
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
		lasts = usualPin
	}
	return bridge.At(at.Add(min(lasts, longestPin)))
}

// keepFacts returns an update: a disappearing message was kept, or is not kept any more.
func keepFacts(k *waE2E.KeepInChatMessage, s source, chat bridge.JID, at bridge.Time) []bridge.Fact {
	kept, undone := k.GetKeepType() == waE2E.KeepType_KEEP_FOR_ALL, k.GetKeepType() == waE2E.KeepType_UNDO_KEEP_FOR_ALL
	if !kept && !undone {
		return nil
	}
	return []bridge.Fact{bridge.Keep{Chat: chat, Target: ID(k.GetKey().GetID()), By: s.sender, Kept: kept, Timestamp: withinSecond(k.GetTimestampMS(), at)}}
}

// withinSecond adds the sender's milliseconds to the network's time of a change that
// anybody may undo, which is in whole seconds: a clock that is wrong, or lies, must not
// outlast the changes of others a second later.
func withinSecond(ms int64, at bridge.Time) bridge.Time {
	from := at.Truncate(time.Second)
	ahead := bridge.Millis(ms).Sub(from)
	return bridge.At(from.Add(max(0, min(ahead, 999*time.Millisecond))))
}

// optionFacts returns an option that is added to a poll.
func optionFacts(option *waE2E.PollCreationMessage_Option, s source, chat bridge.JID, poll string, at bridge.Time) []bridge.Fact {
	return []bridge.Fact{bridge.PollOptionAdded{Chat: chat, Target: ID(poll), By: s.sender, Name: option.GetOptionName(), Timestamp: at}}
}
