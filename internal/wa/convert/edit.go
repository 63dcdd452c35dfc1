package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// editFacts returns an edit of the message with an id. An edit without content, or
// into what is no message, would only empty it: that is left out.
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

// MergeEdit returns a stored message with the caption and the mentions of an
// edit that came without the file. It is not ok where the message takes no
// caption.
func MergeEdit(original, edit []byte) (merged []byte, ok bool) {
	defer func() {
		if recover() != nil { // what cannot be read must not refuse a message
			merged, ok = nil, false
		}
	}()
	msg, changed := new(waE2E.Message), new(waE2E.Message)
	if proto.Unmarshal(original, msg) != nil || proto.Unmarshal(edit, changed) != nil {
		return nil, false
	}
	content, by := innermost(msg), unwrap(changed).msg
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

// mergeMentions replaces who is mentioned. The message's quote stays.
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

// innermost returns the message within the wrappers, in its place.
func innermost(msg *waE2E.Message) *waE2E.Message {
	for range maxWrappers {
		inner := wrapped(msg)
		if inner == nil {
			break
		}
		msg = inner
	}
	return msg
}

// EditedContent returns the new content of an own message. An edited caption goes
// without the file, which stays.
func EditedContent(target bridge.Message, text string) *waE2E.Message {
	caption := proto.String(text)
	switch target.MessageType {
	case "imageMessage":
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: caption}}
	case "videoMessage":
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: caption}}
	case "documentMessage":
		return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{
			Message: &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: caption}}}}
	}
	return textMessage(text)
}

// OwnEdit returns what is stored of an own edit. The content is the text as the
// caller sent it, as that of a message.
func OwnEdit(pn, chat bridge.JID, e bridge.TextEdit, edited *waE2E.Message, at bridge.Time) bridge.Fact {
	s := source{sender: pn, fromMe: true}
	content := describe(edited, s, chat, e.Target.ID, at)
	content.Content = e.Text
	return bridge.Edit{Chat: chat, Target: e.Target.ID, Editor: pn, Timestamp: at, New: content}
}
