package simnet

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"google.golang.org/protobuf/proto"
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

// SendImage uploads and sends a picture.
func (p *Phone) SendImage(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaImage)
	if err != nil {
		return "", err
	}
	return p.Send(ctx, to, &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "image/jpeg"), Caption: optional(m.Caption),
		Width: optional(m.Width), Height: optional(m.Height), JPEGThumbnail: m.Thumbnail,
	}}, opts...)
}

// SendVideo uploads and sends a video.
func (p *Phone) SendVideo(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaVideo)
	if err != nil {
		return "", err
	}
	return p.Send(ctx, to, &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "video/mp4"), Caption: optional(m.Caption), Seconds: optional(m.Seconds),
		Width: optional(m.Width), Height: optional(m.Height), JPEGThumbnail: m.Thumbnail, GifPlayback: optional(m.GIF),
	}}, opts...)
}

// SendAudio uploads and sends a sound, or a voice message.
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

// SendDocument uploads and sends a document; with a caption it comes in the wrapper that official apps use.
func (p *Phone) SendDocument(ctx context.Context, to types.JID, m Media, opts ...SendOption) (types.MessageID, error) {
	up, err := p.upload(ctx, m, whatsmeow.MediaDocument)
	if err != nil {
		return "", err
	}
	msg := &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
		FileLength: &up.FileLength, Mimetype: mimetype(m.Mimetype, "application/pdf"), Caption: optional(m.Caption),
		FileName: optional(m.FileName), Title: optional(m.Title), PageCount: optional(m.Pages), JPEGThumbnail: m.Thumbnail,
	}}
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

// Upload uploads any file and returns what a message about it needs.
func (p *Phone) Upload(ctx context.Context, data []byte, kind whatsmeow.MediaType) (whatsmeow.UploadResponse, error) {
	return p.upload(ctx, Media{Data: data}, kind)
}

// ErrNoMedia is returned for a message without a file.
var ErrNoMedia = errors.New("the message has no media")

// Download fetches and decrypts the file of a message that was received.
func (p *Phone) Download(ctx context.Context, r *Received) ([]byte, error) {
	media := mediaOf(r.Message.Message)
	if media == nil {
		return nil, ErrNoMedia
	}
	data, err := p.client.Download(ctx, media)
	if err != nil {
		return nil, fmt.Errorf("download on the phone: %w", err)
	}
	return data, nil
}

// keptMedia is a message whose file the phone still has.
type keptMedia struct{ message *waE2E.Message }

func (p *Phone) keepMedia(r *Received) {
	if mediaOf(r.Message.Message) == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[r.Info.ID] = keptMedia{message: r.Message.Message}
}

// MediaAnswer is what a phone does when a companion asks it to upload a file again.
type MediaAnswer int

const (
	// MediaReupload uploads the file again.
	MediaReupload MediaAnswer = iota
	// MediaGone says, unencrypted, that the phone no longer has the file.
	MediaGone
	// MediaNotFound says the same in an encrypted answer.
	MediaNotFound
	// MediaGeneralError says that something went wrong.
	MediaGeneralError
	// MediaSilent does not answer.
	MediaSilent
)

// AnswerMedia changes what the phone does from now on when a companion asks for a file.
func (p *Phone) AnswerMedia(how MediaAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.media = how
}

// ReuploadTo makes the phone name this as the new place of every file that it uploads again from now on; empty ends it.
func (p *Phone) ReuploadTo(directPath string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mediaPath = directPath
}

// mediaRequested handles a companion's request for a file. The caller holds Network.mu.
func (p *Phone) mediaRequested(d *Device, node *Node) {
	request := *node
	rmr, ok := child(node, "rmr")
	if !ok {
		// A history that got lost is asked for without naming a message. The phone has no other history to give.
		return
	}
	p.background("upload media again", func(context.Context) error {
		answer, err := p.mediaAnswer(&request)
		if err != nil || answer.Tag == "" {
			return err
		}
		p.net.mu.Lock()
		defer p.net.mu.Unlock()
		p.net.push(d, Node{Tag: "notification", Attrs: attrs{
			"from": p.account.pn(), "type": "mediaretry", "id": text(&request, "id"), "t": unixNow(),
		}, Content: []Node{*rmr, answer}})
		return nil
	})
}

// mediaAnswer decides what is answered; an empty node is silence.
func (p *Phone) mediaAnswer(request *Node) (Node, error) {
	id := text(request, "id")
	p.mu.Lock()
	how, claimed := p.media, p.mediaPath
	kept, ok := p.kept[id]
	p.mu.Unlock()
	gone := Node{Tag: "error", Attrs: attrs{"code": "2"}}
	switch {
	case how == MediaSilent:
		return Node{}, nil
	case how == MediaGone || !ok:
		return gone, nil
	}
	media := mediaOf(kept.message)
	key := hkdfutil.SHA256(media.GetMediaKey(), nil, []byte("WhatsApp Media Retry Notification"), 32)
	if err := checkMediaRequest(request, id, key); err != nil {
		return Node{}, err
	}
	notification := &waMmsRetry.MediaRetryNotification{StanzaID: proto.String(id)}
	switch how {
	case MediaNotFound:
		notification.Result = waMmsRetry.MediaRetryNotification_NOT_FOUND.Enum()
	case MediaGeneralError:
		notification.Result = waMmsRetry.MediaRetryNotification_GENERAL_ERROR.Enum()
	default:
		path, stored := p.net.cdn.reupload(media.GetDirectPath())
		if !stored {
			return gone, nil
		}
		if claimed != "" {
			path = claimed
		}
		notification.Result, notification.DirectPath = waMmsRetry.MediaRetryNotification_SUCCESS.Enum(), proto.String(path)
	}
	return sealMediaAnswer(notification, id, key)
}

// checkMediaRequest makes sure that who asks knows the file's key.
func checkMediaRequest(request *Node, id string, key []byte) error {
	sealed, iv := childBytes(request, "encrypt", "enc_p"), childBytes(request, "encrypt", "enc_iv")
	if len(iv) != 12 {
		return errors.New("a media request without nonce")
	}
	if _, err := gcmutil.Decrypt(key, iv, sealed, []byte(id)); err != nil {
		return fmt.Errorf("open a media request: %w", err)
	}
	return nil
}

func sealMediaAnswer(notification *waMmsRetry.MediaRetryNotification, id string, key []byte) (Node, error) {
	plain, err := proto.Marshal(notification)
	if err != nil {
		return Node{}, fmt.Errorf("marshal a media answer: %w", err)
	}
	iv := randomBytes(12)
	sealed, err := gcmutil.Encrypt(key, iv, plain, []byte(id))
	if err != nil {
		return Node{}, fmt.Errorf("seal a media answer: %w", err)
	}
	return Node{Tag: "encrypt", Content: []Node{{Tag: "enc_p", Content: sealed}, {Tag: "enc_iv", Content: iv}}}, nil
}

// reupload gives a stored file a new path. The same key makes the same ciphertext, so nothing has to be encrypted again.
func (c *CDN) reupload(directPath string) (path string, ok bool) {
	c.mu.Lock()
	b := c.blobs[plainPath(directPath)]
	c.mu.Unlock()
	if b == nil {
		return "", false
	}
	return c.keep(b) + "?ccb=11-4&oh=simulated&oe=simulated", true
}
