package content

import (
	"errors"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// WithoutWrapper returns the captioned document within a message, or else the message.
func WithoutWrapper(msg *waE2E.Message) *waE2E.Message {
	if inner := msg.GetDocumentWithCaptionMessage().GetMessage(); inner != nil {
		return inner
	}
	return msg
}

// TextOf returns the text or the caption of a message, or "".
func TextOf(msg *waE2E.Message) string {
	switch {
	case msg.GetConversation() != "":
		return msg.GetConversation()
	case msg.GetExtendedTextMessage() != nil:
		return msg.GetExtendedTextMessage().GetText()
	case msg.GetImageMessage() != nil:
		return msg.GetImageMessage().GetCaption()
	case msg.GetVideoMessage() != nil:
		return msg.GetVideoMessage().GetCaption()
	case msg.GetDocumentMessage() != nil:
		return msg.GetDocumentMessage().GetCaption()
	}
	return ""
}

// OnlyKeys reports whether a message carries only a group's key, which whatsmeow reports as a separate message.
func OnlyKeys(msg *waE2E.Message) bool {
	if msg.GetSenderKeyDistributionMessage() == nil {
		return false
	}
	found := 0
	for _, field := range messageFields(msg) {
		if field != "senderKeyDistributionMessage" && field != "messageContextInfo" {
			found++
		}
	}
	return found == 0
}

func messageFields(msg *waE2E.Message) (names []string) {
	reflected := msg.ProtoReflect()
	fields := reflected.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); reflected.Has(field) {
			names = append(names, string(field.Name()))
		}
	}
	return names
}

// LabelAt returns a group member's label, set at a time.
func LabelAt(label string, at time.Time) *waE2E.MemberLabel {
	return &waE2E.MemberLabel{Label: proto.String(label), LabelTimestamp: proto.Int64(at.Unix())}
}

// Labelled returns a group's members with their labels, as in the history.
func Labelled(labels map[types.JID]string, members []types.JID) (all []*waHistorySync.GroupParticipant) {
	for _, member := range members {
		p := &waHistorySync.GroupParticipant{UserJID: proto.String(member.String())}
		if label, has := labels[member]; has {
			p.MemberLabel = LabelAt(label, time.Now())
		}
		all = append(all, p)
	}
	return all
}

// SetContextInfo merges an info into the content of a message, if that has a place for one.
func SetContextInfo(msg *waE2E.Message, info *waE2E.ContextInfo) {
	if text := msg.Conversation; text != nil {
		msg.Conversation = nil
		msg.ExtendedTextMessage = &waE2E.ExtendedTextMessage{Text: text}
	}
	if inner := msg.GetDocumentWithCaptionMessage().GetMessage(); inner != nil {
		msg = inner
	}
	reflected := msg.ProtoReflect()
	fields := reflected.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Message() == nil || field.IsList() || !reflected.Has(field) || field.Name() == "messageContextInfo" {
			continue
		}
		part := reflected.Mutable(field).Message()
		place := part.Descriptor().Fields().ByName("contextInfo")
		if place == nil {
			continue
		}
		if existing, ok := part.Mutable(place).Message().Interface().(*waE2E.ContextInfo); ok {
			proto.Merge(existing, info)
		}
	}
}

// ViewOnce returns a message that apps show once: its file is marked, and wrapped as that kind of file is.
func ViewOnce(msg *waE2E.Message) *waE2E.Message {
	switch {
	case msg.GetImageMessage() != nil:
		msg.ImageMessage.ViewOnce = proto.Bool(true)
	case msg.GetVideoMessage() != nil:
		msg.VideoMessage.ViewOnce = proto.Bool(true)
	case msg.GetAudioMessage() != nil:
		msg.AudioMessage.ViewOnce = proto.Bool(true)
		return &waE2E.Message{ViewOnceMessageV2Extension: &waE2E.FutureProofMessage{Message: msg}}
	}
	return &waE2E.Message{ViewOnceMessageV2: &waE2E.FutureProofMessage{Message: msg}}
}

// ErrHalfViewOnce reports a view-once file that is not marked, not wrapped, or wrapped as another kind of file is. Some apps show it for ever,
// others not at all.
var ErrHalfViewOnce = errors.New("the file is not view-once in the way of the apps")

// IsViewOnce reports whether a message is view-once. It fails with [ErrHalfViewOnce].
func IsViewOnce(msg *waE2E.Message) (bool, error) {
	if sent := msg.GetDeviceSentMessage().GetMessage(); sent != nil {
		msg = sent
	}
	if inner := msg.GetEphemeralMessage().GetMessage(); inner != nil {
		msg = inner
	}
	seen, heard := msg.GetViewOnceMessageV2().GetMessage(), msg.GetViewOnceMessageV2Extension().GetMessage()
	marked := seen.GetImageMessage().GetViewOnce() || seen.GetVideoMessage().GetViewOnce() || heard.GetAudioMessage().GetViewOnce()
	if seen == nil && heard == nil {
		marked = msg.GetImageMessage().GetViewOnce() || msg.GetVideoMessage().GetViewOnce() || msg.GetAudioMessage().GetViewOnce()
	}
	if isWrapped := seen != nil || heard != nil; isWrapped != marked {
		return false, ErrHalfViewOnce
	}
	return marked, nil
}
