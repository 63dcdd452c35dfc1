package simnet_test

import (
	"errors"
	"testing"

	"bridged/internal/simnet"
)

// The network accepts any file for any kind of message; the app does not show all of
// them.
func TestShow_OnlyWhatTheAppShows(t *testing.T) {
	_, own, anna, _ := pair(t)
	jpeg, png := []byte("\xff\xd8\xff\xe0 and so on"), []byte("\x89PNG\r\n\x1a\n and so on")
	film, opus := []byte("\x00\x00\x00\x18ftypisom and so on"), []byte("OggS\x00\x02 some head OpusHead and so on")
	image, video, sound, paper := own.SendImage, own.SendVideo, own.SendAudio, own.SendDocument
	for name, c := range map[string]struct {
		send  func() (simnet.MessageID, error)
		shown bool
	}{
		"JPEG": {func() (simnet.MessageID, error) { return image(within(t), anna.PN(), simnet.Media{Data: jpeg}) }, true},
		"PNG": {func() (simnet.MessageID, error) {
			return image(within(t), anna.PN(), simnet.Media{Data: png, Mimetype: "image/png"})
		}, false},
		"PNG as JPEG": {func() (simnet.MessageID, error) { return image(within(t), anna.PN(), simnet.Media{Data: png}) }, false},
		"MP4":         {func() (simnet.MessageID, error) { return video(within(t), anna.PN(), simnet.Media{Data: film}) }, true},
		"other film":  {func() (simnet.MessageID, error) { return video(within(t), anna.PN(), simnet.Media{Data: png}) }, false},
		"voice": {func() (simnet.MessageID, error) {
			return sound(within(t), anna.PN(), simnet.Media{Data: opus, Voice: true, Mimetype: "audio/ogg; codecs=opus"})
		}, true},
		"other voice": {func() (simnet.MessageID, error) {
			return sound(within(t), anna.PN(), simnet.Media{Data: png, Voice: true, Mimetype: "audio/ogg; codecs=opus"})
		}, false},
		"document": {func() (simnet.MessageID, error) { return paper(within(t), anna.PN(), simnet.Media{Data: png}) }, true},
	} {
		id, err := c.send()
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := anna.ReceivedID(within(t), id)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := anna.Show(within(t), got); c.shown != (err == nil) || err != nil && !errors.Is(err, simnet.ErrNotShown) {
			t.Errorf("%s: shown is %v, got %v", name, c.shown, err)
		}
	}
}
