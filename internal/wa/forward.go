package wa

import (
	"context"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// maxForwardingScore is the score of what was "forwarded many times". The apps
// count no further.
const maxForwardingScore = 127

// forwardMessage copies a stored message, without its wrappers and without
// the original's quotes, mentions and secrets, and marks it as forwarded
// unless it is an own message on its first way.
func (l *link) forwardMessage(ctx context.Context, src bridge.Message, info **waE2E.ContextInfo) (msg *waE2E.Message, err error) {
	if err := src.Forwardable(); err != nil {
		return nil, err
	}
	original := new(waE2E.Message)
	if err := proto.Unmarshal(src.Raw, original); err != nil {
		return nil, err
	}
	msg = contentAlone(original)
	if msg == nil {
		return nil, bridge.Invalid("the message has no content and cannot be forwarded")
	}
	score := contextInfo(msg).GetForwardingScore()
	if msg, err = l.forwardForm(msg); err != nil {
		return nil, err
	}
	clearContext(msg)
	if err := l.keepMedia(ctx, src, msg); err != nil {
		return nil, err
	}
	if msg.GetDocumentMessage().GetCaption() != "" {
		msg = captioned(msg)
	}
	if !src.FromMe || score > 0 {
		if *info == nil {
			*info = new(waE2E.ContextInfo)
		}
		(*info).IsForwarded = proto.Bool(true)
		(*info).ForwardingScore = proto.Uint32(min(score, maxForwardingScore-1) + 1)
	}
	return msg, nil
}

// captioned wraps a document with a caption, without which the apps do not
// show it.
func captioned(document *waE2E.Message) *waE2E.Message {
	return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: document}}
}

// keepMedia makes sure that the file of a forwarded message is still on the
// CDN: where it is lost, the phone is asked to upload it again. The stored
// protobuf names the file's first place, the row its latest.
func (l *link) keepMedia(ctx context.Context, src bridge.Message, msg *waE2E.Message) error {
	media := mediaOf(msg)
	if media == nil || media.Ref.DirectPath == "" {
		return nil
	}
	place := media.Ref.DirectPath
	if src.Media != nil && src.Media.Ref.DirectPath != "" && src.Media.Ref.DirectPath != place {
		place = src.Media.Ref.DirectPath
		setDirectPath(msg, place)
	}
	media.Ref.DirectPath = place
	there, err := l.m.opts.CDN.Exists(ctx, l.mediaConn, media)
	if err != nil || there {
		return err
	}
	path, err := l.m.Reupload(ctx, src)
	if err != nil {
		return err
	}
	setDirectPath(msg, path)
	return nil
}
