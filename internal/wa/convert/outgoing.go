package convert

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// ReplaceName replaces one @user by another, and reports whether it was
// there. The beginning of a longer number is not that user.
func ReplaceName(text, user, by string) (replaced string, found bool) {
	name := "@" + user
	var out strings.Builder
	for {
		i := strings.Index(text, name)
		if i < 0 {
			break
		}
		out.WriteString(text[:i])
		text = text[i+len(name):]
		if len(text) > 0 && text[0] >= '0' && text[0] <= '9' {
			out.WriteString(name)
			continue
		}
		out.WriteString("@" + by)
		found = true
	}
	out.WriteString(text)
	return out.String(), found
}

// QuotedMessage returns the quoted content, without what it quoted itself and
// without thumbnails' companions: the phone shows it when it lacks the original.
func QuotedMessage(m *bridge.Message) *waE2E.Message {
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(m.Raw, msg); err != nil || len(m.Raw) == 0 {
		return &waE2E.Message{Conversation: proto.String(m.Content)}
	}
	quoted := contentAlone(msg)
	if quoted == nil {
		return &waE2E.Message{Conversation: proto.String(m.Content)}
	}
	clearContext(quoted)
	return quoted
}

// Composed makes the protobuf of content that consists of values alone.
func Composed(content bridge.Content) (*waE2E.Message, error) {
	switch content := content.(type) {
	case bridge.Text:
		return textMessage(content.Text), nil
	case bridge.Location:
		return locationMessage(content), nil
	case bridge.Poll:
		return pollMessage(content.Name, content.Values, content.Selectable), nil
	case bridge.Contacts:
		return contactsMessage(content.Contacts), nil
	}
	return nil, fmt.Errorf("compose %T: not a message", content)
}

func textMessage(text string) *waE2E.Message {
	return &waE2E.Message{Conversation: proto.String(text)}
}

func locationMessage(c bridge.Location) *waE2E.Message {
	location := &waE2E.LocationMessage{DegreesLatitude: proto.Float64(c.Latitude), DegreesLongitude: proto.Float64(c.Longitude)}
	if c.Name != "" {
		location.Name = proto.String(c.Name)
	}
	if c.Address != "" {
		location.Address = proto.String(c.Address)
	}
	return &waE2E.Message{LocationMessage: location}
}

// pollMessage makes a poll. Voters choose as many options as they like where
// selectable is none of the numbers that they could.
func pollMessage(name string, values []string, selectable int) *waE2E.Message {
	if selectable < 0 || selectable > len(values) {
		selectable = 0
	}
	options := make([]*waE2E.PollCreationMessage_Option, len(values))
	for i, value := range values {
		options[i] = &waE2E.PollCreationMessage_Option{OptionName: proto.String(value)}
	}
	return &waE2E.Message{MessageContextInfo: newSecret(), PollCreationMessage: &waE2E.PollCreationMessage{
		Name: proto.String(name), Options: options, SelectableOptionsCount: proto.Uint32(uint32(selectable))}}
}

func contactsMessage(cards []bridge.ContactCard) *waE2E.Message {
	contacts := make([]*waE2E.ContactMessage, len(cards))
	for i, card := range cards {
		contacts[i] = &waE2E.ContactMessage{DisplayName: proto.String(card.DisplayName), Vcard: proto.String(vcardOf(card))}
	}
	if len(contacts) == 1 {
		return &waE2E.Message{ContactMessage: contacts[0]}
	}
	return &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{
		DisplayName: proto.String(fmt.Sprintf("%d contacts", len(contacts))), Contacts: contacts,
	}}
}

// SetContext puts a context, if there is one, where the content has a place for it.
// Plain text has none and becomes extended text.
func SetContext(msg *waE2E.Message, info *waE2E.ContextInfo) {
	if info == nil {
		return
	}
	if msg.Conversation != nil {
		msg.ExtendedTextMessage = &waE2E.ExtendedTextMessage{Text: msg.Conversation}
		msg.Conversation = nil
	}
	if content, field := contextField(unwrap(msg).msg); field != nil {
		content.Set(field, protoreflect.ValueOfMessage(info.ProtoReflect()))
	}
}

func clearContext(msg *waE2E.Message) {
	if content, field := contextField(msg); field != nil {
		content.Clear(field)
	}
}

// contextField returns the content and its field for a context, or nil.
func contextField(msg *waE2E.Message) (protoreflect.Message, protoreflect.FieldDescriptor) {
	field := contentField(msg)
	if field == nil || field.Message() == nil {
		return nil, nil
	}
	content := msg.ProtoReflect().Mutable(field).Message()
	return content, content.Descriptor().Fields().ByName("contextInfo")
}

// SetSecret gives a message its secret, unless it has one.
func SetSecret(msg *waE2E.Message) {
	if msg.MessageContextInfo == nil {
		msg.MessageContextInfo = newSecret()
	}
}

// newSecret makes the message secret that votes and reporting tokens need.
func newSecret() *waE2E.MessageContextInfo {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return &waE2E.MessageContextInfo{MessageSecret: secret}
}

// OwnMessage returns the row of a message that is about to leave. Its content is
// the text as the caller sent it, whatever the wire form makes of mentions.
func OwnMessage(msg *waE2E.Message, pn bridge.JID, pushName string, chat bridge.JID, id string, content bridge.Content) bridge.Message {
	row := describe(msg, source{sender: pn, fromMe: true}, chat, id, bridge.At(time.Now().Truncate(time.Second)))
	pending := bridge.DeliveryPending
	row.Status, row.PushName = &pending, pushName
	if text, ok := content.(bridge.Text); ok {
		row.Content = text.Text
	}
	return row
}

// captioned wraps a document with a caption, without which the apps do not
// show it.
func captioned(document *waE2E.Message) *waE2E.Message {
	return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: document}}
}

// UploadedMessage describes an uploaded file as the official clients do.
func UploadedMessage(f bridge.File, up bridge.UploadedFile) *waE2E.Message {
	length, now := proto.Uint64(uint64(up.Size)), proto.Int64(time.Now().Unix())
	switch f.Type {
	case bridge.MediaImage:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Caption: optional(f.Caption), Width: optionalSize(f.Width), Height: optionalSize(f.Height), JPEGThumbnail: f.Thumbnail,
		}}
	case bridge.MediaVideo:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Caption: optional(f.Caption), Width: optionalSize(f.Width), Height: optionalSize(f.Height), JPEGThumbnail: f.Thumbnail,
			Seconds: optionalSize(f.Seconds),
		}}
	case bridge.MediaAudio:
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Seconds: optionalSize(f.Seconds), PTT: &f.PTT, Waveform: f.Waveform,
		}}
	case bridge.MediaSticker:
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Width: optionalSize(f.Width), Height: optionalSize(f.Height), IsAnimated: &f.Animated,
		}}
	}
	msg := &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
		FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
		Mimetype: &f.MimeType, FileName: optional(f.FileName), Title: optional(f.FileName), Caption: optional(f.Caption), JPEGThumbnail: f.Thumbnail,
	}}
	if f.Caption != "" {
		return captioned(msg)
	}
	return msg
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func optionalSize(n int) *uint32 {
	if n <= 0 {
		return nil
	}
	return proto.Uint32(uint32(n))
}
