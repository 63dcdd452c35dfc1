package simnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
)

// ErrNotShown is the error of a file that the apps put an empty frame in place of: an
// image that is not JPEG, a video that is not MP4, a voice message that is not Opus in
// Ogg, or bytes that are not what the message calls them. The network takes them all.
var ErrNotShown = errors.New("the app does not show the file")

// Show downloads the file of a message that was received, as the app does to show it
// in the chat. What is opened by other apps, a document, is downloaded as it is.
func (p *Phone) Show(ctx context.Context, r *Received) ([]byte, error) {
	data, err := p.Download(ctx, r)
	if err != nil {
		return nil, err
	}
	switch file := mediaOf(r.Message.Message).(type) {
	case *waE2E.ImageMessage:
		err = shown(file.GetMimetype(), "image/jpeg", bytes.HasPrefix(data, []byte{0xFF, 0xD8, 0xFF}))
	case *waE2E.VideoMessage: // 3GP and QuickTime are its relatives
		err = shown(file.GetMimetype(), "video/", len(data) > 12 && string(data[4:8]) == "ftyp")
	case *waE2E.AudioMessage:
		if file.GetPTT() {
			err = shown(file.GetMimetype(), "audio/ogg; codecs=opus", bytes.HasPrefix(data, []byte("OggS")) && bytes.Contains(data[:min(len(data), 64)], []byte("OpusHead")))
		}
	}
	return data, err
}

// shown returns what keeps a file of a type from being shown.
func shown(called, want string, isSo bool) error {
	switch {
	case !strings.HasPrefix(called, want):
		return fmt.Errorf("%w: it is called %s, not %s", ErrNotShown, called, want)
	case !isSo:
		return fmt.Errorf("%w: its bytes are not those of %s", ErrNotShown, called)
	}
	return nil
}
