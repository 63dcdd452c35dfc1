package wa

import (
	"context"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// forwardMessage copies a stored message, and marks it in info as forwarded.
func (l *link) forwardMessage(ctx context.Context, src bridge.Message, info **waE2E.ContextInfo) (*waE2E.Message, error) {
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
	return msg, l.keepMedia(ctx, src, msg)
}

// keepMedia makes sure that the file of a forwarded message is still on the
// CDN: where it is lost, the phone is asked to upload it again. The stored
// protobuf names the file's first place, the row its latest.
func (l *link) keepMedia(ctx context.Context, src bridge.Message, msg *waE2E.Message) error {
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
	there, err := l.m.opts.CDN.Exists(ctx, l.cli.MediaConn, media)
	if err != nil || there {
		return err
	}
	path, err := l.m.Reupload(ctx, src)
	if err != nil {
		return err
	}
	convert.SetDirectPath(msg, path)
	return nil
}
