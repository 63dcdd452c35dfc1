package wa

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// editChange replaces the text of an own message. What is stored is what an edit
// on the phone would store.
func (l *link) editChange(ctx context.Context, to types.JID, chat bridge.JID, e bridge.TextEdit, out bridge.Outgoing) (change, error) {
	named := bridge.Outgoing{Mentions: e.Mentions, Strangers: e.Strangers}
	info, err := l.contextFor(ctx, chat, named)
	if err != nil {
		return change{}, err
	}
	edited := editedContent(e.Target, l.mentionText(ctx, chat, e.Text, named))
	if info != nil {
		setContext(edited, info)
	}
	at := claimedTime(out.Key)
	msg := l.cli.BuildEdit(to, onWire(&e.Target), edited)
	msg.EditedMessage.Message.ProtocolMessage.TimestampMS = proto.Int64(at.UnixMilli())
	return change{name: "edit", target: e.Target.ID, msg: msg, fact: func(bridge.Time) bridge.Fact {
		return l.ownEdit(chat, e, edited, at)
	}}, nil
}

// claimedTime returns the time that an edit claims. The phones heed the latest, so
// that a repeated edit has to claim what it claimed at first.
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

// editedContent returns the new content of an own message. An edited caption goes
// without the file, which stays.
func editedContent(target bridge.Message, text string) *waE2E.Message {
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

// ownEdit returns what is stored of an own edit. The content is the text as the
// caller sent it, as that of a message.
func (l *link) ownEdit(chat bridge.JID, e bridge.TextEdit, edited *waE2E.Message, at bridge.Time) bridge.Fact {
	pn, _ := l.m.own()
	s := source{sender: pn, fromMe: true}
	content := describe(edited, s, chat, e.Target.ID, at)
	content.Content = e.Text
	return bridge.Edit{Chat: chat, Target: e.Target.ID, Editor: pn, Timestamp: at, New: content}
}
