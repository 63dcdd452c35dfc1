package simnet_test

import (
	"errors"
	"testing"

	"bridged/internal/simnet"
)

// The phone gets every file; the computer refuses those of a declared type that is not in its list, letter by letter.
func TestComputer_OpensFilesOfTheTypesInItsList(t *testing.T) {
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	jpeg, film, opus := []byte("\xff\xd8\xff\xe0 and so on"), []byte("\x00\x00\x00\x18ftypisom and so on"), []byte("OggS\x00\x02 some head OpusHead and so on")
	image, video, sound, paper := own.SendImage, own.SendVideo, own.SendAudio, own.SendDocument
	for name, c := range map[string]struct {
		send func() (simnet.MessageID, error)
		want error
	}{
		"JPEG": {func() (simnet.MessageID, error) { return image(within(t), anna.PN(), simnet.Media{Data: jpeg}) }, nil},
		"GIF": {func() (simnet.MessageID, error) {
			return image(within(t), anna.PN(), simnet.Media{Data: jpeg, Mimetype: "image/gif"})
		}, simnet.ErrRefused},
		"MP4": {func() (simnet.MessageID, error) { return video(within(t), anna.PN(), simnet.Media{Data: film}) }, nil},
		"QuickTime": {func() (simnet.MessageID, error) {
			return video(within(t), anna.PN(), simnet.Media{Data: film, Mimetype: "video/quicktime"})
		}, simnet.ErrRefused},
		"QuickTime as MP4": {func() (simnet.MessageID, error) {
			return video(within(t), anna.PN(), simnet.Media{Data: []byte("\x00\x00\x00\x18ftypqt   and so on")})
		}, simnet.ErrNotShown},
		"Opus": {func() (simnet.MessageID, error) { return sound(within(t), anna.PN(), simnet.Media{Data: opus}) }, nil},
		"Opus, unspaced": {func() (simnet.MessageID, error) {
			return sound(within(t), anna.PN(), simnet.Media{Data: opus, Mimetype: "audio/ogg;codecs=opus"})
		}, simnet.ErrRefused},
		"Ogg": {func() (simnet.MessageID, error) {
			return sound(within(t), anna.PN(), simnet.Media{Data: opus, Mimetype: "audio/ogg"})
		}, simnet.ErrRefused},
		"Opus as MP3": {func() (simnet.MessageID, error) {
			return sound(within(t), anna.PN(), simnet.Media{Data: opus, Mimetype: "audio/mpeg"})
		}, simnet.ErrNotShown},
		"sticker": {func() (simnet.MessageID, error) {
			return own.SendSticker(within(t), anna.PN(), simnet.Media{Data: []byte("RIFF\x00\x00\x00\x00WEBPVP8 ")})
		}, nil},
		"sticker of PNG": {func() (simnet.MessageID, error) {
			return own.SendSticker(within(t), anna.PN(), simnet.Media{Data: jpeg, Mimetype: "image/png"})
		}, simnet.ErrRefused},
		"document": {func() (simnet.MessageID, error) {
			return paper(within(t), anna.PN(), simnet.Media{Data: jpeg, Mimetype: "audio/wav"})
		}, nil},
		"drawing": {func() (simnet.MessageID, error) {
			return paper(within(t), anna.PN(), simnet.Media{Data: jpeg, Mimetype: "image/SVG+xml; charset=utf-8"})
		}, simnet.ErrRefused},
	} {
		id, err := c.send()
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := anna.ReceivedID(within(t), id)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := anna.Computer().Open(within(t), got); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, err := anna.Download(within(t), got); err != nil {
			t.Errorf("%s: on the phone: %v", name, err)
		}
	}
}
