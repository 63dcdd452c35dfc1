package convert

import (
	"cmp"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// carriers lists the fields that accompany the content.
var carriers = map[string]bool{
	"messageContextInfo": true, "senderKeyDistributionMessage": true, "fastRatchetKeySenderKeyDistributionMessage": true,
}

// unwrapped holds the content of a message without its wrappers.
type unwrapped struct {
	msg      *waE2E.Message // the content, with the MessageContextInfo of the innermost layer that has one; may be a copy
	inner    *waE2E.Message // the content where it is in the wrapped message, so that it can be changed there
	viewOnce bool
}

// maxWrappers bounds how deep wrappers may be nested.
const maxWrappers = 10

// unwrap takes the wrappers off: every field that holds a FutureProofMessage
// (ephemeral, view-once, document with caption, edited, and those to come) and
// the copy of a message sent from another own device.
func unwrap(msg *waE2E.Message) unwrapped {
	u := unwrapped{inner: msg}
	outer := msg.GetMessageContextInfo()
	for range maxWrappers {
		field := contentField(u.inner)
		if field == nil || !isWrapper(field) {
			break
		}
		wrapper := u.inner.ProtoReflect().Get(field).Message().Interface().(interface{ GetMessage() *waE2E.Message })
		if wrapper.GetMessage() == nil {
			break
		}
		u.viewOnce = u.viewOnce || strings.HasPrefix(string(field.Name()), "viewOnce")
		u.inner = wrapper.GetMessage()
		outer = cmp.Or(u.inner.MessageContextInfo, outer)
	}
	u.msg = u.inner
	if u.msg.GetMessageContextInfo() != outer {
		u.msg = proto.Clone(u.inner).(*waE2E.Message)
		u.msg.MessageContextInfo = outer
	}
	for _, media := range []interface{ GetViewOnce() bool }{u.msg.GetImageMessage(), u.msg.GetVideoMessage(), u.msg.GetPtvMessage(), u.msg.GetAudioMessage(), u.msg.GetExtendedTextMessage()} {
		u.viewOnce = u.viewOnce || media.GetViewOnce()
	}
	return u
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

// contentAlone copies the field with the content, without other fields that an unauthenticated sender
// may have set. Content that the library does not know is copied unchanged. It returns nil for a
// message without content, or with wrappers only.
func contentAlone(msg *waE2E.Message) *waE2E.Message {
	content, alone := unwrap(msg).inner, new(waE2E.Message)
	inner := content.ProtoReflect()
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
	content := field.Message()
	return content != nil && (content.Name() == "FutureProofMessage" || content.Name() == "DeviceSentMessage")
}

// typeName names the protobuf field that carries the content, [bridge.TypeUnknown] for one
// that the library does not know.
func typeName(msg *waE2E.Message) string {
	if field := contentField(msg); field != nil {
		return string(field.Name())
	}
	return bridge.TypeUnknown
}

// contextInfo returns the content's reference to other messages and people, or nil.
func contextInfo(msg *waE2E.Message) *waE2E.ContextInfo {
	content, field := contextField(msg)
	if field == nil {
		return nil
	}
	context, _ := content.Get(field).Message().Interface().(*waE2E.ContextInfo)
	return context
}

// contextField returns the content and its field for a context, or nil.
func contextField(msg *waE2E.Message) (protoreflect.Message, protoreflect.FieldDescriptor) {
	field := contentField(msg)
	if field == nil || field.Message() == nil {
		return nil, nil
	}
	content := msg.ProtoReflect().Get(field).Message()
	return content, content.Descriptor().Fields().ByName("contextInfo")
}

func contextOf(c *waE2E.ContextInfo) *bridge.ContextInfo {
	// Mentions without a JID mention everybody ("@all").
	context := &bridge.ContextInfo{MentionsAll: c.GetNonJIDMentions() > 0}
	if c.GetStanzaID() == "" && len(c.GetMentionedJID()) == 0 && !context.MentionsAll {
		return nil
	}
	if id := ID(c.GetStanzaID()); id != "" {
		context.QuotedMsgID, context.QuotedSenderJID = &id, ParseJID(c.GetParticipant())
	}
	context.MentionedJID = people(c.GetMentionedJID())
	return context
}

// maxListed bounds how many entries of a sender's list are looked at.
const maxListed = 4096

// people reads a list of people, each once, without other JIDs.
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
