package wa

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// draft composes a message and makes the row that is stored of it. A panic in
// between, whatever a stranger's message did to cause it, is an error: nothing
// is stored then, and an Idempotency-Key stays free.
func (l *link) draft(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (msg *waE2E.Message, row bridge.Message, err error) {
	defer l.m.recovered("composing", &err)
	if msg, err = l.compose(ctx, chat, out); err != nil {
		return nil, bridge.Message{}, err
	}
	pushName := ""
	if user := l.m.Status().User; user != nil {
		pushName = user.PushName
	}
	return msg, convert.OwnMessage(msg, l.ownPN(), pushName, chat, l.cli.GenerateMessageID(), out.Content), nil
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
	case bridge.File:
		var uploaded bridge.UploadedFile
		if uploaded, err = l.m.opts.CDN.Upload(ctx, l.cli.MediaConn, content); err == nil {
			msg = convert.UploadedMessage(content, uploaded)
		}
	case bridge.Forward:
		msg, err = l.forwardMessage(ctx, content.Source, &info)
	case bridge.Text:
		content.Text = l.mentionText(ctx, chat, content.Text, out)
		msg, err = convert.Composed(content)
	default:
		msg, err = convert.Composed(content)
	}
	if err != nil {
		return nil, err
	}
	convert.SetContext(msg, info)
	convert.SetSecret(msg)
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
		info.StanzaID = proto.String(convert.OnWire(quoted))
		info.Participant = proto.String(string(l.wireForm(ctx, chat, quoted.SenderJID)))
		info.QuotedMessage = convert.QuotedMessage(quoted)
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
	lid, err := l.cli.LIDOf(ctx, convert.WireJID(person))
	if err != nil || lid.IsEmpty() {
		return person
	}
	return convert.JID(lid)
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
			text, found = convert.ReplaceName(text, form.User(), wire)
			written = written || found
		}
		if !written {
			text += " @" + wire
		}
	}
	return text
}
