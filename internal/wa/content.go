package wa

import (
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// housekeeping are the protobuf fields that are no messages: they belong to
// the protocol, or change something that bridged does not keep.
var housekeeping = map[string]bool{
	"senderKeyDistributionMessage": true, "fastRatchetKeySenderKeyDistributionMessage": true,
	"messageContextInfo": true, "protocolMessage": true, "stickerSyncRmrMessage": true,
	"keepInChatMessage": true, "pinInChatMessage": true, "scheduledCallEditMessage": true,
	"messageHistoryBundle": true, "messageHistoryNotice": true, "encEventResponseMessage": true,
	"pollAddOptionMessage": true, "groupRootKeyShare": true, "rootSecretDistributeMessage": true,
	"statusNotificationMessage": true, "reactionMessage": true, "encReactionMessage": true,
	"pollUpdateMessage": true, "secretEncryptedMessage": true, "requestPhoneNumberMessage": true, "statusLinkPreviewMetadata": true,
}

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
	if id := idOf(c.GetStanzaID()); id != "" {
		context.QuotedMsgID = &id
		context.QuotedSenderJID = parseToBridge(c.GetParticipant())
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
		if jid := parseToBridge(entry); jid != "" && !seen[jid] {
			seen[jid] = true
			found = append(found, jid)
		}
	}
	return found
}

// textOf returns the text that a person would read in the message.
func textOf(msg *waE2E.Message) string {
	switch {
	case msg.Conversation != nil:
		return msg.GetConversation()
	case msg.ExtendedTextMessage != nil:
		return msg.GetExtendedTextMessage().GetText()
	case msg.ImageMessage != nil:
		return msg.GetImageMessage().GetCaption()
	case msg.VideoMessage != nil:
		return msg.GetVideoMessage().GetCaption()
	case msg.PtvMessage != nil:
		return msg.GetPtvMessage().GetCaption()
	case msg.DocumentMessage != nil:
		return msg.GetDocumentMessage().GetCaption()
	case msg.LocationMessage != nil:
		l := msg.GetLocationMessage()
		return placeText(l.GetName(), l.GetAddress(), l.GetDegreesLatitude(), l.GetDegreesLongitude())
	case msg.LiveLocationMessage != nil:
		l := msg.GetLiveLocationMessage()
		return placeText(l.GetCaption(), "", l.GetDegreesLatitude(), l.GetDegreesLongitude())
	case msg.ContactMessage != nil:
		return msg.GetContactMessage().GetDisplayName()
	case msg.ContactsArrayMessage != nil:
		return contactNames(msg.GetContactsArrayMessage())
	}
	if poll := pollCreation(msg); poll != nil {
		return poll.GetName()
	}
	return businessText(msg)
}

// businessText returns the text of the forms that businesses send and of the
// answers to them.
func businessText(msg *waE2E.Message) string {
	switch {
	case msg.ButtonsMessage != nil:
		return msg.GetButtonsMessage().GetContentText()
	case msg.ButtonsResponseMessage != nil:
		return msg.GetButtonsResponseMessage().GetSelectedDisplayText()
	case msg.ListMessage != nil:
		return msg.GetListMessage().GetDescription()
	case msg.ListResponseMessage != nil:
		return msg.GetListResponseMessage().GetTitle()
	case msg.TemplateMessage != nil:
		return msg.GetTemplateMessage().GetHydratedTemplate().GetHydratedContentText()
	case msg.TemplateButtonReplyMessage != nil:
		return msg.GetTemplateButtonReplyMessage().GetSelectedDisplayText()
	case msg.InteractiveMessage != nil:
		return msg.GetInteractiveMessage().GetBody().GetText()
	case msg.InteractiveResponseMessage != nil:
		return msg.GetInteractiveResponseMessage().GetBody().GetText()
	case msg.HighlyStructuredMessage != nil:
		return msg.GetHighlyStructuredMessage().GetHydratedHsm().GetHydratedTemplate().GetHydratedContentText()
	case msg.GroupInviteMessage != nil:
		return msg.GetGroupInviteMessage().GetCaption()
	}
	return ""
}

func placeText(name, address string, latitude, longitude float64) string {
	switch {
	case name != "" && address != "":
		return name + ", " + address
	case name+address != "":
		return name + address
	}
	return strconv.FormatFloat(latitude, 'f', -1, 64) + "," + strconv.FormatFloat(longitude, 'f', -1, 64)
}

func contactNames(array *waE2E.ContactsArrayMessage) string {
	names := make([]string, 0, len(array.GetContacts()))
	for _, contact := range array.GetContacts() {
		names = append(names, contact.GetDisplayName())
	}
	return strings.Join(names, ", ")
}

// pollCreation returns the poll in any of the fields that phones use for it.
func pollCreation(msg *waE2E.Message) *waE2E.PollCreationMessage {
	for _, poll := range []*waE2E.PollCreationMessage{
		msg.GetPollCreationMessage(), msg.GetPollCreationMessageV2(), msg.GetPollCreationMessageV3(),
		msg.GetPollCreationMessageV5(), msg.GetPollCreationMessageV6(),
	} {
		if poll != nil {
			return poll
		}
	}
	return nil
}

func pollOf(msg *waE2E.Message) *bridge.PollTally {
	creation := pollCreation(msg)
	if creation == nil {
		return nil
	}
	poll := &bridge.PollTally{Name: creation.GetName(), Options: []bridge.PollOption{}, SelectableCount: int(creation.GetSelectableOptionsCount())}
	for _, option := range creation.GetOptions() {
		poll.Options = append(poll.Options, bridge.PollOption{Name: option.GetOptionName(), Voters: []bridge.JID{}})
	}
	return poll
}

// mediaOf describes the file that the message carries; nil if it has none.
func mediaOf(msg *waE2E.Message) *bridge.Media {
	switch {
	case msg.ImageMessage != nil:
		m := msg.GetImageMessage()
		return &bridge.Media{Type: bridge.MediaImage, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()), Caption: m.GetCaption(),
			Width: int(m.GetWidth()), Height: int(m.GetHeight()), Ref: refOf(m)}
	case msg.VideoMessage != nil:
		return videoOf(msg.GetVideoMessage())
	case msg.PtvMessage != nil:
		return videoOf(msg.GetPtvMessage())
	case msg.AudioMessage != nil:
		m := msg.GetAudioMessage()
		return &bridge.Media{Type: bridge.MediaAudio, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()),
			DurationSec: int(m.GetSeconds()), PTT: m.GetPTT(), Ref: refOf(m)}
	case msg.DocumentMessage != nil:
		m := msg.GetDocumentMessage()
		name := m.GetFileName()
		if name == "" {
			name = m.GetTitle()
		}
		return &bridge.Media{Type: bridge.MediaDocument, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()), Caption: m.GetCaption(),
			FileName: name, Pages: int(m.GetPageCount()), Ref: refOf(m)}
	case msg.StickerMessage != nil:
		m := msg.GetStickerMessage()
		return &bridge.Media{Type: bridge.MediaSticker, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()),
			Width: int(m.GetWidth()), Height: int(m.GetHeight()), IsAnimated: m.GetIsAnimated() || m.GetIsLottie(), Ref: refOf(m)}
	}
	return nil
}

func videoOf(m *waE2E.VideoMessage) *bridge.Media {
	return &bridge.Media{Type: bridge.MediaVideo, MimeType: m.GetMimetype(), Size: int64(m.GetFileLength()), Caption: m.GetCaption(),
		DurationSec: int(m.GetSeconds()), Width: int(m.GetWidth()), Height: int(m.GetHeight()), Ref: refOf(m)}
}

// encryptedFile reads what every media message says of its file.
type encryptedFile interface {
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileSHA256() []byte
	GetFileEncSHA256() []byte
}

func refOf(m encryptedFile) bridge.MediaRef {
	return bridge.MediaRef{DirectPath: m.GetDirectPath(), MediaKey: m.GetMediaKey(), FileSHA256: m.GetFileSHA256(), FileEncSHA256: m.GetFileEncSHA256()}
}
