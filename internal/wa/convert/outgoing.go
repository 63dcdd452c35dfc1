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
	parts := strings.Split(text, "@"+user)
	var out strings.Builder
	for i, part := range parts {
		switch {
		case i == 0:
		case part != "" && part[0] >= '0' && part[0] <= '9':
			out.WriteString("@" + user)
		default:
			out.WriteString("@" + by)
			found = true
		}
		out.WriteString(part)
	}
	return out.String(), found
}

// QuotedMessage returns the quoted content without its own context. The phone shows it
// when it lacks the original.
func QuotedMessage(m *bridge.Message) *waE2E.Message {
	msg := new(waE2E.Message)
	if proto.Unmarshal(m.Raw, msg) == nil {
		if quoted := contentAlone(msg); quoted != nil {
			if m.ViewOnce {
				return withoutFile(quoted)
			}
			clearContext(quoted)
			return quoted
		}
	}
	return &waE2E.Message{Conversation: proto.String(m.Content)}
}

// withoutFile returns a view-once message without its file, which others could open again with the keys in a quote.
func withoutFile(msg *waE2E.Message) *waE2E.Message {
	bare := new(waE2E.Message)
	field := contentField(msg)
	if field.Message() == nil {
		return bare
	}
	setFields(bare.ProtoReflect().Mutable(field).Message().Interface(), map[protoreflect.Name]any{"viewOnce": true})
	return bare
}

// Composed returns the protobuf of content that has no file.
func Composed(content bridge.Content) (*waE2E.Message, error) {
	switch content := content.(type) {
	case bridge.Text:
		return textMessage(content), nil
	case bridge.Location:
		return locationMessage(content), nil
	case bridge.Poll:
		return pollMessage(content.Name, content.Values, content.Selectable), nil
	case bridge.Contacts:
		return contactsMessage(content.Contacts), nil
	}
	return nil, fmt.Errorf("compose %T: not a message", content)
}

// textMessage returns a text, with the preview of a page.
func textMessage(t bridge.Text) *waE2E.Message {
	if t.Preview == nil {
		return &waE2E.Message{Conversation: &t.Text}
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: &t.Text, MatchedText: &t.Preview.URL, Title: &t.Preview.Title, Description: &t.Preview.Description,
		PreviewType: waE2E.ExtendedTextMessage_NONE.Enum(), JPEGThumbnail: t.Preview.Thumbnail,
	}}
}

// SetContext sets the context of the content, if there is one. Plain text cannot have a context and
// becomes extended text.
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
	row.Status, row.PushName = new(bridge.DeliveryPending), pushName
	if text, ok := content.(bridge.Text); ok {
		row.Content = text.Text
	}
	return row
}
