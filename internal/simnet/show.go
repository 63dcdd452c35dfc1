package simnet

import (
	"bytes"
	"context"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/simnet/content"
)

// Show downloads the file of a message that was received, as the app does to show it
// in the chat. What is opened by other apps, a document, is downloaded as it is.
func (p *Phone) Show(ctx context.Context, r *Received) ([]byte, error) {
	data, err := p.Download(ctx, r)
	if err != nil {
		return nil, err
	}
	switch file := content.FileOf(r.Message.Message).(type) {
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
