package simnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/content"
)

// Media is a file as a person sends it. Zero fields are left out of the message.
type Media struct {
	Data      []byte
	Mimetype  string
	Caption   string
	FileName  string
	Title     string
	Width     uint32
	Height    uint32
	Seconds   uint32
	Pages     uint32
	Voice     bool
	GIF       bool
	Animated  bool
	Waveform  []byte
	Thumbnail []byte
}

// optional returns a pointer to a value, or nil for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func mimetype(given, fallback string) *string {
	if given == "" {
		given = fallback
	}
	return &given
}

// UploadImage uploads a picture and returns its message, to be sent or embedded in another.
func (p *Phone) UploadImage(ctx context.Context, m Media) (*waE2E.ImageMessage, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaImage)
	if err != nil {
		return nil, err
	}
	return &waE2E.ImageMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "image/jpeg"), Caption: optional(m.Caption),
		Width: optional(m.Width), Height: optional(m.Height), JPEGThumbnail: m.Thumbnail,
	}, nil
}

// SendImage uploads and sends a picture.
func (p *Phone) SendImage(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	image, err := p.UploadImage(ctx, m)
	if err != nil {
		return "", err
	}
	return p.Send(ctx, to, &waE2E.Message{ImageMessage: image}, opts...)
}

// UploadVideo uploads a video and returns its message, to be sent or embedded in another.
func (p *Phone) UploadVideo(ctx context.Context, m Media) (*waE2E.VideoMessage, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaVideo)
	if err != nil {
		return nil, err
	}
	return &waE2E.VideoMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "video/mp4"), Caption: optional(m.Caption), Seconds: optional(m.Seconds),
		Width: optional(m.Width), Height: optional(m.Height), JPEGThumbnail: m.Thumbnail, GifPlayback: optional(m.GIF),
	}, nil
}

// SendVideo uploads and sends a video.
func (p *Phone) SendVideo(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	video, err := p.UploadVideo(ctx, m)
	if err != nil {
		return "", err
	}
	return p.Send(ctx, to, &waE2E.Message{VideoMessage: video}, opts...)
}

// SendAudio uploads and sends an audio file or a voice message.
func (p *Phone) SendAudio(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaAudio)
	if err != nil {
		return "", err
	}
	return p.Send(ctx, to, &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "audio/ogg; codecs=opus"), Seconds: optional(m.Seconds),
		PTT: optional(m.Voice), Waveform: m.Waveform,
	}}, opts...)
}

// UploadDocument uploads a document and returns its message, to be sent or embedded in another.
func (p *Phone) UploadDocument(ctx context.Context, m Media) (*waE2E.DocumentMessage, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaDocument)
	if err != nil {
		return nil, err
	}
	return &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "application/pdf"), Caption: optional(m.Caption),
		FileName: optional(m.FileName), Title: optional(m.Title), PageCount: optional(m.Pages), JPEGThumbnail: m.Thumbnail,
	}, nil
}

// SendDocument uploads and sends a document; one with a caption comes in the wrapper that official apps use.
func (p *Phone) SendDocument(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	document, err := p.UploadDocument(ctx, m)
	if err != nil {
		return "", err
	}
	msg := &waE2E.Message{DocumentMessage: document}
	if m.Caption != "" {
		msg = &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: msg}}
	}
	return p.Send(ctx, to, msg, opts...)
}

// SendSticker uploads and sends a sticker.
func (p *Phone) SendSticker(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaImage)
	if err != nil {
		return "", err
	}
	return p.Send(ctx, to, &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "image/webp"), Width: optional(m.Width), Height: optional(m.Height),
		IsAnimated: optional(m.Animated),
	}}, opts...)
}

func (p *Phone) upload(ctx context.Context, m Media, kind whatsmeow.MediaType) (whatsmeow.UploadResponse, error) {
	up, err := p.client.Upload(ctx, m.Data, kind)
	if err != nil {
		return up, fmt.Errorf("upload from the phone: %w", err)
	}
	return up, nil
}

// Upload uploads a file and returns the fields that a message about it needs.
func (p *Phone) Upload(ctx context.Context, data []byte, kind whatsmeow.MediaType) (whatsmeow.UploadResponse, error) {
	return p.upload(ctx, Media{Data: data}, kind)
}

// ErrNoMedia reports a message without a file.
var ErrNoMedia = errors.New("the message has no media")

// Download downloads and decrypts the file of a received message.
func (p *Phone) Download(ctx context.Context, r *Received) ([]byte, error) {
	media := content.FileOf(r.Message.Message)
	if media == nil {
		return nil, ErrNoMedia
	}
	data, err := p.client.Download(ctx, media)
	if err != nil {
		return nil, fmt.Errorf("download on the phone: %w", err)
	}
	return data, nil
}

// UploadBusinessFiles uploads a picture, a video and a document for [BusinessMessages].
func (p *Phone) UploadBusinessFiles(ctx context.Context) (f content.BusinessFiles, err error) {
	if f.Image, err = p.UploadImage(ctx, Media{Data: []byte("the bytes of a boarding pass"), Mimetype: "image/png", Width: 640, Height: 480}); err != nil {
		return f, err
	}
	if f.Video, err = p.UploadVideo(ctx, Media{Data: []byte("the bytes of a film about shoes"), Seconds: 7, Width: 320, Height: 240}); err != nil {
		return f, err
	}
	f.Document, err = p.UploadDocument(ctx, Media{Data: []byte("the bytes of a statement"), FileName: "statement.pdf", Pages: 2})
	return f, err
}

// ErrNotShown reports a file in whose place the apps show an empty frame: an image that is not JPEG, a video that is not MP4, a voice
// message that is not Opus in Ogg, or bytes that do not match their type. The network accepts them all.
var ErrNotShown = errors.New("the app does not show the file")

// shown returns the reason why the apps do not show a file, or nil.
func shown(called, want string, isSo bool) error {
	switch {
	case !strings.HasPrefix(called, want):
		return fmt.Errorf("%w: it is called %s, not %s", ErrNotShown, called, want)
	case !isSo:
		return fmt.Errorf("%w: its bytes are not those of %s", ErrNotShown, called)
	}
	return nil
}

// ErrSeen reports a view-once file that the phone has shown before.
var ErrSeen = errors.New("the file was shown once")

// showOnce fails with [ErrSeen] for a view-once message that the phone has shown, and with [content.ErrHalfViewOnce].
func (p *Phone) showOnce(r *Received) error {
	isOnce, err := content.IsViewOnce(r.RawMessage)
	if err != nil || !isOnce {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[r.Info.ID] {
		return ErrSeen
	}
	p.seen[r.Info.ID] = true
	return nil
}

// Show downloads the file of a received message as the app does to show it in the chat. Documents, which other apps open, are not checked.
func (p *Phone) Show(ctx context.Context, r *Received) ([]byte, error) {
	if err := p.showOnce(r); err != nil {
		return nil, err
	}
	data, err := p.Download(ctx, r)
	if err != nil {
		return nil, err
	}
	switch file := content.FileOf(r.Message.Message).(type) {
	case *waE2E.ImageMessage:
		err = shown(file.GetMimetype(), "image/jpeg", bytes.HasPrefix(data, []byte{0xFF, 0xD8, 0xFF}))
	case *waE2E.VideoMessage: // 3GP and QuickTime are related
		err = shown(file.GetMimetype(), "video/", len(data) > 12 && string(data[4:8]) == "ftyp")
	case *waE2E.AudioMessage:
		if file.GetPTT() {
			err = shown(file.GetMimetype(), "audio/ogg; codecs=opus", bytes.HasPrefix(data, []byte("OggS")) && bytes.Contains(data[:min(len(data), 64)], []byte("OpusHead")))
		}
	}
	return data, err
}
