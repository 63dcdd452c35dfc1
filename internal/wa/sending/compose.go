package sending

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/groups"
)

// draft composes a message and its row. A panic, which a received message may cause, becomes an
// error; nothing is stored then, and the Idempotency-Key stays free.
func (c *Client) draft(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (msg *waE2E.Message, row bridge.Message, err error) {
	defer c.s.recovered("composing", &err)
	if msg, err = c.compose(ctx, chat, out); err != nil {
		return nil, bridge.Message{}, err
	}
	row = convert.OwnMessage(msg, c.s.ownPN(), c.s.o.PushName(), chat, cmp.Or(out.ID, c.GenerateMessageID()), out.Content)
	row.By = out.By
	return msg, row, nil
}

// compose builds the protobuf of an outgoing message as the official clients do.
func (c *Client) compose(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (*waE2E.Message, error) {
	info, err := c.contextFor(ctx, chat, out)
	if err != nil {
		return nil, err
	}
	var msg *waE2E.Message
	switch content := out.Content.(type) {
	case bridge.File:
		var uploaded bridge.UploadedFile
		if uploaded, err = c.s.o.CDN.Upload(ctx, c.MediaConn, content); err == nil {
			msg = convert.UploadedMessage(content, uploaded)
		}
	case bridge.Forward:
		msg, err = c.forwardMessage(ctx, content.Source, &info)
	case bridge.Text:
		content.Text = c.mentionText(ctx, chat, content.Text, out)
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

// contextFor returns the message's references and the chat's timer, or nil if there are none.
func (c *Client) contextFor(ctx context.Context, chat bridge.JID, out bridge.Outgoing) (*waE2E.ContextInfo, error) {
	info := new(waE2E.ContextInfo)
	timer, err := c.s.o.Store.ChatTimer(ctx, chat)
	if err != nil {
		return nil, err
	}
	if begun, err := c.initialTimer(ctx, chat, timer); err != nil {
		return nil, err
	} else if begun.Seconds > 0 {
		timer, info.DisappearingMode = begun, convert.AccountTimer()
	}
	if timer.Seconds > 0 {
		info.Expiration = proto.Uint32(timer.Seconds)
		if !timer.SetAt.IsZero() {
			info.EphemeralSettingTimestamp = proto.Int64(timer.SetAt.Unix())
		}
	}
	if quoted := out.Quote; quoted != nil {
		info.StanzaID = proto.String(convert.OnWire(quoted))
		info.Participant = proto.String(string(c.wireForm(ctx, chat, quoted.SenderJID)))
		info.QuotedMessage = convert.QuotedMessage(quoted)
		if c.s.o.Store.Canonical(quoted.Chat) != chat {
			info.RemoteJID = proto.String(string(c.wireForm(ctx, chat, quoted.Chat)))
		}
	}
	for _, mentioned := range out.Mentions {
		info.MentionedJID = append(info.MentionedJID, string(c.mentionForm(ctx, chat, mentioned, out)))
	}
	if text, isText := out.Content.(bridge.Text); isText && text.MentionAll {
		if err := c.mentionMembers(ctx, chat, info); err != nil {
			return nil, err
		}
	}
	if proto.Size(info) == 0 {
		return nil, nil
	}
	return info, nil
}

// initialTimer returns the account's default timer if the chat is new and has no timer.
func (c *Client) initialTimer(ctx context.Context, chat bridge.JID, known bridge.ChatTimer) (none bridge.ChatTimer, err error) {
	seconds := c.s.o.DefaultTimer()
	if seconds == 0 || known.Seconds > 0 || !known.SetAt.IsZero() || !chat.IsPerson() || c.isTrusted(ctx, chat) {
		return none, nil
	}
	isNew, err := c.s.o.Store.IsNewChat(ctx, c.namesOf(chat)...)
	if err != nil || !isNew {
		return none, err
	}
	return bridge.ChatTimer{Chat: chat, Seconds: seconds, SetAt: bridge.At(time.Now())}, nil
}

// mentionMembers mentions all other members of a group, with the identities that the group's
// members know. The text does not contain their names.
func (c *Client) mentionMembers(ctx context.Context, group bridge.JID, info *waE2E.ContextInfo) error {
	known, err := c.GetGroupInfo(ctx, convert.WireJID(group))
	if err != nil {
		return groups.QueryError(err)
	}
	own := c.s.ownPN()
	forms := []bridge.JID{own, c.Hidden(ctx, own)}
	for _, member := range known.Participants {
		named := member.JID.ToNonAD().String()
		isOwn := slices.Contains(forms, convert.JID(member.JID)) || convert.JID(member.PhoneNumber) == own
		if !isOwn && !slices.Contains(info.MentionedJID, named) {
			info.MentionedJID = append(info.MentionedJID, named)
		}
	}
	return nil
}

// wireForm returns the identity under which the chat's members know a person: in 1:1 chats and in
// groups addressed by LID, the LID if it is known; elsewhere the number.
func (c *Client) wireForm(ctx context.Context, chat, person bridge.JID) bridge.JID {
	if !person.IsPerson() || chat.IsGroup() && !c.AddressedByLID(ctx, chat) {
		return c.s.o.Store.Canonical(person)
	}
	return c.Hidden(ctx, c.s.o.Store.Canonical(person))
}

// mentionForm returns the identity of a person in a mention.
func (c *Client) mentionForm(ctx context.Context, chat, person bridge.JID, out bridge.Outgoing) bridge.JID {
	if slices.Contains(out.Unseen, person) {
		return person
	}
	return c.wireForm(ctx, chat, person)
}

// mentionText makes the text contain each mentioned person in the form that is sent, because apps
// only highlight that. It replaces the other form and appends missing mentions.
func (c *Client) mentionText(ctx context.Context, chat bridge.JID, text string, out bridge.Outgoing) string {
	for _, mentioned := range out.Mentions {
		wire := c.mentionForm(ctx, chat, mentioned, out).User()
		forms := []bridge.JID{mentioned}
		if !slices.Contains(out.Unseen, mentioned) {
			canonical := c.s.o.Store.Canonical(mentioned)
			forms = []bridge.JID{canonical, c.Hidden(ctx, canonical)}
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

// forwardMessage copies a stored message and marks it as forwarded in info.
func (c *Client) forwardMessage(ctx context.Context, src bridge.Message, info **waE2E.ContextInfo) (*waE2E.Message, error) {
	msg, score, err := convert.Forwarded(src)
	if err != nil {
		return nil, err
	}
	if score > 0 {
		if *info == nil {
			*info = new(waE2E.ContextInfo)
		}
		(*info).IsForwarded, (*info).ForwardingScore = proto.Bool(true), &score
	}
	return msg, c.ensureMedia(ctx, src, msg)
}

// ensureMedia asks the phone to upload a forwarded file again if the CDN has lost it. The stored
// protobuf has the file's first location, the row its latest.
func (c *Client) ensureMedia(ctx context.Context, src bridge.Message, msg *waE2E.Message) error {
	media := convert.MediaOf(msg)
	if media == nil || media.Ref.DirectPath == "" {
		return nil
	}
	place := media.Ref.DirectPath
	if src.Media != nil && src.Media.Ref.DirectPath != "" && src.Media.Ref.DirectPath != place {
		place = src.Media.Ref.DirectPath
		convert.SetDirectPath(msg, place)
	}
	media.Ref.DirectPath = place
	there, err := c.s.o.CDN.Exists(ctx, c.MediaConn, media)
	if err != nil || there {
		return err
	}
	path, err := c.s.Reupload(ctx, src)
	if err != nil {
		return err
	}
	convert.SetDirectPath(msg, path)
	return nil
}

// editChange returns the change that replaces the text of an own message.
func (c *Client) editChange(ctx context.Context, to types.JID, chat bridge.JID, e bridge.TextEdit, out bridge.Outgoing) (change, error) {
	named := bridge.Outgoing{Mentions: e.Mentions, Unseen: e.Unseen}
	info, err := c.contextFor(ctx, chat, named)
	if err != nil {
		return change{}, err
	}
	edited := convert.EditedContent(e.Target, c.mentionText(ctx, chat, e.Text, named))
	convert.SetContext(edited, info)
	at := claimedTime(out.Key)
	msg := c.BuildEdit(to, convert.OnWire(&e.Target), edited)
	msg.EditedMessage.Message.ProtocolMessage.TimestampMS = proto.Int64(at.UnixMilli())
	return change{name: "edit", target: e.Target.ID, msg: msg, fact: func(bridge.Time) bridge.Fact {
		return convert.OwnEdit(c.s.ownPN(), chat, e, edited, at)
	}}, nil
}

// claimedTime returns the time that an edit claims. Phones accept the edit with the latest time,
// so a repeated edit must claim the time of its first attempt.
func claimedTime(key *bridge.SendKey) bridge.Time {
	now := bridge.At(time.Now())
	if key == nil {
		return now
	}
	if key.ChangedAt.IsZero() {
		key.ChangedAt = now
	}
	return key.ChangedAt
}
