package wa

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// draft composes a message and makes the row that is stored of it. A panic in
// between, whatever a stranger's message did to cause it, is an error: nothing
// is stored then, and an Idempotency-Key stays free.
func (l *link) draft(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (msg *waE2E.Message, row bridge.Message, err error) {
	defer l.m.recovered("composing", &err)
	if msg, err = l.compose(ctx, chat, out); err != nil {
		return nil, bridge.Message{}, err
	}
	return msg, l.m.ownMessage(msg, chat, l.cli.GenerateMessageID(), out), nil
}

// compose makes the protobuf of an outgoing message, in the form that the
// official clients use.
func (l *link) compose(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (*waE2E.Message, error) {
	info, err := l.contextFor(ctx, chat, out)
	if err != nil {
		return nil, err
	}
	var msg *waE2E.Message
	switch content := out.Content.(type) {
	case bridge.Text:
		msg = textMessage(l.mentionText(ctx, chat, content.Text, out))
	case bridge.Location:
		msg = locationMessage(content)
	case bridge.Poll:
		msg = l.cli.BuildPollCreation(content.Name, content.Values, content.Selectable)
	case bridge.Contacts:
		msg = contactsMessage(content.Contacts)
	case bridge.File:
		msg, err = l.fileMessage(ctx, content)
	case bridge.Forward:
		msg, err = l.forwardMessage(ctx, content.Source, &info)
	default:
		return nil, fmt.Errorf("compose %T: not a message", out.Content)
	}
	if err != nil {
		return nil, err
	}
	if info != nil {
		setContext(msg, info)
	}
	if msg.MessageContextInfo == nil {
		msg.MessageContextInfo = newSecret()
	}
	return msg, nil
}

// contextFor returns what the message refers to and the chat's timer, or nil
// if there is neither.
func (l *link) contextFor(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (*waE2E.ContextInfo, error) {
	info := new(waE2E.ContextInfo)
	timer, err := l.m.store.ChatTimer(ctx, chat)
	if err != nil {
		return nil, err
	}
	if timer.Seconds > 0 {
		info.Expiration = proto.Uint32(timer.Seconds)
		if !timer.SetAt.IsZero() {
			info.EphemeralSettingTimestamp = proto.Int64(timer.SetAt.Unix())
		}
	}
	if quoted := out.Quote; quoted != nil {
		info.StanzaID = proto.String(onWire(quoted))
		info.Participant = proto.String(string(l.wireForm(ctx, chat, quoted.SenderJID)))
		info.QuotedMessage = quotedMessage(quoted)
		if l.m.store.Canonical(quoted.Chat) != chat {
			info.RemoteJID = proto.String(string(l.wireForm(ctx, chat, quoted.Chat)))
		}
	}
	for _, mentioned := range out.Mentions {
		info.MentionedJID = append(info.MentionedJID, string(l.mentionForm(ctx, chat, mentioned, out)))
	}
	if proto.Size(info) == 0 {
		return nil, nil
	}
	return info, nil
}

// wireForm returns a person's identity as the chat's members know it: the LID in
// 1:1 chats, which all go to the LID, and in groups addressed by LID; the
// number elsewhere. Groups, and people with one known identity, stay as they
// are.
func (l *link) wireForm(ctx context.Context, chat, person bridge.JID) bridge.JID {
	if !person.IsPerson() || chat.IsGroup() && !l.addressedByLID(ctx, chat) {
		return l.m.store.Canonical(person)
	}
	return l.hidden(ctx, l.m.store.Canonical(person))
}

// mentionForm returns how a mention names a person.
func (l *link) mentionForm(ctx context.Context, chat, person bridge.JID, out bridge.Outgoing) bridge.JID {
	if slices.Contains(out.Strangers, person) {
		return person
	}
	return l.wireForm(ctx, chat, person)
}

// hidden returns a person's LID if it is known, else the person as given.
func (l *link) hidden(ctx context.Context, person bridge.JID) bridge.JID {
	if person.Server() != bridge.ServerUser {
		return person
	}
	lid, err := l.stores.lids.GetLIDForPN(ctx, toWA(person))
	if err != nil || lid.IsEmpty() {
		return person
	}
	return toBridge(lid)
}

// mentionText makes the text name each mentioned person in the form that is
// sent, or no app highlights it: the other form is replaced, a missing one
// appended.
func (l *link) mentionText(ctx context.Context, chat bridge.JID, text string, out bridge.Outgoing) string {
	for _, mentioned := range out.Mentions {
		wire := l.mentionForm(ctx, chat, mentioned, out).User()
		forms := []bridge.JID{mentioned}
		if !slices.Contains(out.Strangers, mentioned) {
			canonical := l.m.store.Canonical(mentioned)
			forms = []bridge.JID{canonical, l.hidden(ctx, canonical)}
		}
		written := false
		for _, form := range forms {
			var found bool
			text, found = replaceName(text, form.User(), wire)
			written = written || found
		}
		if !written {
			text += " @" + wire
		}
	}
	return text
}

// replaceName replaces one @user by another, and reports whether it was
// there. The beginning of a longer number is not that user.
func replaceName(text, user, by string) (replaced string, found bool) {
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

// quotedMessage returns the quoted content, without what it quoted itself and
// without thumbnails' companions: the phone shows it when it lacks the original.
func quotedMessage(m *bridge.Message) *waE2E.Message {
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

// setContext puts the context where the content has a place for it. Plain
// text has none and becomes extended text.
func setContext(msg *waE2E.Message, info *waE2E.ContextInfo) {
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

// newSecret makes the message secret that votes and reporting tokens need.
func newSecret() *waE2E.MessageContextInfo {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return &waE2E.MessageContextInfo{MessageSecret: secret}
}

// ownMessage returns the row of a message that is about to leave. Its content is
// the text as the caller sent it, whatever the wire form makes of mentions.
func (m *Manager) ownMessage(msg *waE2E.Message, chat bridge.JID, id string, out bridge.Outgoing) bridge.Message {
	pn, _ := m.own()
	row := describe(msg, source{sender: pn, fromMe: true}, chat, id, bridge.At(time.Now().Truncate(time.Second)))
	pending := bridge.DeliveryPending
	row.Status = &pending
	if user := m.Status().User; user != nil {
		row.PushName = user.PushName
	}
	if text, ok := out.Content.(bridge.Text); ok {
		row.Content = text.Text
	}
	return row
}
