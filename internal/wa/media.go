package wa

import (
	"context"
	"net/http"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// CDN is the network's media servers. Who calls it names the hosts.
type CDN interface {
	Upload(ctx context.Context, conns bridge.MediaConns, f bridge.File) (bridge.UploadedFile, error)
	// Exists reports whether a file is still there.
	Exists(ctx context.Context, conns bridge.MediaConns, file *bridge.Media) (bool, error)
	// HTTPClient reaches the media servers, for whatsmeow's own downloads.
	HTTPClient() *http.Client
}

// fileMessage uploads a prepared file and describes it as the official clients do.
func (l *link) fileMessage(ctx context.Context, f bridge.File) (*waE2E.Message, error) {
	up, err := l.m.opts.CDN.Upload(ctx, l.mediaConn, f)
	if err != nil {
		return nil, err
	}
	length, now := proto.Uint64(uint64(up.Size)), proto.Int64(time.Now().Unix())
	switch f.Type {
	case bridge.MediaImage:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Caption: optional(f.Caption), Width: optionalSize(f.Width), Height: optionalSize(f.Height), JPEGThumbnail: f.Thumbnail,
		}}, nil
	case bridge.MediaVideo:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Caption: optional(f.Caption), Width: optionalSize(f.Width), Height: optionalSize(f.Height), JPEGThumbnail: f.Thumbnail,
			Seconds: optionalSize(f.Seconds),
		}}, nil
	case bridge.MediaAudio:
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Seconds: optionalSize(f.Seconds), PTT: &f.PTT, Waveform: f.Waveform,
		}}, nil
	case bridge.MediaSticker:
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
			FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
			Mimetype: &f.MimeType, Width: optionalSize(f.Width), Height: optionalSize(f.Height), IsAnimated: &f.Animated,
		}}, nil
	}
	msg := &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now,
		FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256, FileLength: length,
		Mimetype: &f.MimeType, FileName: optional(f.FileName), Title: optional(f.FileName), Caption: optional(f.Caption), JPEGThumbnail: f.Thumbnail,
	}}
	if f.Caption != "" {
		return captioned(msg), nil
	}
	return msg, nil
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

// MediaConn returns the hosts and the right that the network names now, or, with
// refresh, names anew. It needs the socket.
func (m *Manager) MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	l, err := m.open()
	if err != nil {
		return bridge.MediaConn{}, err
	}
	return l.mediaConn(ctx, refresh)
}
