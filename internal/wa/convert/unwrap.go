package convert

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// carriers are the fields beside the content: never the content themselves
// while there is another field.
var carriers = map[string]bool{
	"messageContextInfo": true, "senderKeyDistributionMessage": true, "fastRatchetKeySenderKeyDistributionMessage": true,
}

// unwrapped is the content of a message without its wrappers.
type unwrapped struct {
	msg      *waE2E.Message
	viewOnce bool
}

// maxWrappers bounds how deep wrappers may be nested.
const maxWrappers = 10

// unwrap takes the wrappers off: every field that holds a FutureProofMessage
// (ephemeral, view-once, document with caption, edited, and those to come) and
// the copy of a message sent from another own device.
func unwrap(msg *waE2E.Message) unwrapped {
	u := unwrapped{msg: msg}
	var outer *waE2E.MessageContextInfo // of the innermost wrapper that has one
	for range maxWrappers {
		inner := wrapped(u.msg)
		if inner == nil {
			break
		}
		if strings.HasPrefix(string(contentField(u.msg).Name()), "viewOnce") {
			u.viewOnce = true
		}
		if u.msg.MessageContextInfo != nil {
			outer = u.msg.MessageContextInfo
		}
		u.msg = inner
	}
	if u.msg.MessageContextInfo == nil && outer != nil {
		u.msg = proto.Clone(u.msg).(*waE2E.Message)
		u.msg.MessageContextInfo = outer
	}
	for _, media := range []interface{ GetViewOnce() bool }{u.msg.GetImageMessage(), u.msg.GetVideoMessage(), u.msg.GetPtvMessage(), u.msg.GetAudioMessage(), u.msg.GetExtendedTextMessage()} {
		u.viewOnce = u.viewOnce || media.GetViewOnce()
	}
	return u
}

// wrapped returns the message that is the content of another one; nil where
// the content is something else.
func wrapped(msg *waE2E.Message) *waE2E.Message {
	field := contentField(msg)
	if field == nil || field.Message() == nil {
		return nil
	}
	switch wrapper := msg.ProtoReflect().Get(field).Message().Interface().(type) {
	case *waE2E.FutureProofMessage:
		return wrapper.GetMessage()
	case *waE2E.DeviceSentMessage:
		return wrapper.GetMessage()
	}
	return nil
}

// contentField returns the field that carries the content; nil when only carriers
// are set, or nothing that the library knows.
func contentField(msg *waE2E.Message) protoreflect.FieldDescriptor {
	var found protoreflect.FieldDescriptor
	msg.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !carriers[string(field.Name())] && (found == nil || field.Number() < found.Number()) {
			found = field
		}
		return true
	})
	return found
}

// contentAlone copies the field that carries the content, and nothing beside
// it: a stranger may have set fields that the apps never set together. Kinds
// that the library does not know are copied as they are. It is nil where there
// is no content, or only wrappers.
func contentAlone(msg *waE2E.Message) *waE2E.Message {
	content := unwrap(msg).msg
	inner, alone := content.ProtoReflect(), new(waE2E.Message)
	switch field := contentField(content); {
	case field != nil && isWrapper(field):
		return nil
	case field != nil:
		alone.ProtoReflect().Set(field, inner.Get(field))
	case len(inner.GetUnknown()) > 0:
		alone.ProtoReflect().SetUnknown(inner.GetUnknown())
	default:
		return nil
	}
	return proto.Clone(alone).(*waE2E.Message)
}

// isWrapper reports whether a field of a message holds another whole message.
func isWrapper(field protoreflect.FieldDescriptor) bool {
	if field.Message() == nil {
		return false
	}
	switch field.Message().FullName() {
	case (&waE2E.FutureProofMessage{}).ProtoReflect().Descriptor().FullName(),
		(&waE2E.DeviceSentMessage{}).ProtoReflect().Descriptor().FullName():
		return true
	}
	return false
}

// typeName names the protobuf field that carries the content, "unknown" for one
// that the library does not know.
func typeName(msg *waE2E.Message) string {
	if field := contentField(msg); field != nil {
		return string(field.Name())
	}
	return "unknown"
}

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
	for _, entry := range first(list) {
		if jid := ParseJID(entry); jid != "" && !seen[jid] {
			seen[jid] = true
			found = append(found, jid)
		}
	}
	return found
}
