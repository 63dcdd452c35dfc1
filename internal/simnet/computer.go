package simnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/simnet/content"
)

// ErrRefused reports a file that WhatsApp Web and the Windows app refuse because of its declared MIME type, before they download it. The
// network delivers the message all the same, and phones may show the file.
var ErrRefused = errors.New("the computer refuses the file")

// Computer is WhatsApp Web, linked to a phone's account. It receives the messages that the phone receives, and opens fewer of their files.
type Computer struct{ phone *Phone }

// Computer returns the computer that is linked to the phone's account.
func (p *Phone) Computer() Computer { return Computer{p} }

// opened lists the declared types that WhatsApp Web compares with, character by character, since October 2026 (its modules of builds up to
// 2.3000.1049878396; whatsapp-web.js 201908).
var opened = map[string][]string{
	"image":   {"image/jpeg", "image/png", "image/webp"},
	"video":   {"video/mp4", "video/3gpp"}, // GIFs and round videos, too
	"audio":   {"audio/ogg; codecs=opus", "audio/mp4", "audio/mpeg", "audio/aac", "audio/amr"},
	"sticker": {"image/webp"},
}

var drawing = regexp.MustCompile(`(?i)^\s*image/svg\+xml`)

// declared returns the kind of a file and its declared type.
func declared(file whatsmeow.DownloadableMessage) (kind, called string) {
	switch file := file.(type) {
	case *waE2E.ImageMessage:
		return "image", file.GetMimetype()
	case *waE2E.VideoMessage:
		return "video", file.GetMimetype()
	case *waE2E.AudioMessage:
		return "audio", file.GetMimetype()
	case *waE2E.StickerMessage:
		return "sticker", file.GetMimetype()
	case *waE2E.DocumentMessage:
		return "document", file.GetMimetype()
	}
	return "", ""
}

// Open downloads the file of a message as the computer does to show or to save it. It fails with [ErrRefused] for a file of a declared type
// that is not in the list, and with [ErrNotShown] for one whose bytes are of another format.
func (c Computer) Open(ctx context.Context, r *Received) ([]byte, error) {
	file := content.FileOf(r.Message.Message)
	if file == nil {
		return nil, ErrNoMedia
	}
	kind, called := declared(file)
	isOpened := slices.Contains(opened[kind], called)
	if kind == "document" {
		isOpened = !drawing.MatchString(called)
	}
	if !isOpened {
		return nil, fmt.Errorf("%w: it is declared as %q, as %s", ErrRefused, called, kind)
	}
	data, err := c.phone.Download(ctx, r)
	if err != nil {
		return nil, err
	}
	return data, shown(called, called, kind == "document" || hasFormat(called, data))
}

// hasFormat reports whether a file begins as files of a type do.
func hasFormat(called string, data []byte) bool {
	begins := func(signatures ...string) bool {
		return slices.ContainsFunc(signatures, func(s string) bool { return bytes.HasPrefix(data, []byte(s)) })
	}
	switch called {
	case "image/jpeg":
		return begins("\xff\xd8\xff")
	case "image/png":
		return begins("\x89PNG")
	case "image/webp":
		return begins("RIFF") && len(data) > 12 && string(data[8:12]) == "WEBP"
	case "audio/ogg; codecs=opus":
		return begins("OggS") && bytes.Contains(data[:min(len(data), 64)], []byte("OpusHead"))
	case "audio/mpeg":
		return begins("ID3", "\xff\xfb", "\xff\xfa", "\xff\xf3", "\xff\xf2", "\xff\xe3", "\xff\xe2")
	case "audio/aac":
		return begins("\xff\xf1", "\xff\xf9")
	case "audio/amr":
		return begins("#!AMR")
	}
	// The family of MP4, without QuickTime.
	return len(data) > 12 && string(data[4:8]) == "ftyp" && string(data[8:12]) != "qt  "
}
