package formats

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// movingGIF returns a GIF of two frames.
func movingGIF(t testing.TB) []byte {
	t.Helper()
	moving := gif.GIF{Delay: []int{50, 50}}
	for _, shade := range []color.Color{color.Black, color.White} {
		frame := image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{shade})
		moving.Image = append(moving.Image, frame)
	}
	var file bytes.Buffer
	if err := gif.EncodeAll(&file, &moving); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestGIF_IsRepeated: the apps have no GIFs. An animated one arrives as a video that they repeat, by
// whatever way it is sent, but not in an album.
func TestGIF_IsRepeated(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback, WithFFmpeg(t))
	to, file, web := bridge.JID(c.Anna.PN().String()), movingGIF(t), NewWebsite(t)
	upload := func(u client.Upload, file []byte) simnet.MessageID {
		u.To, u.FileName = to, "a.gif"
		return Must(c.Bridge.API.SendFile(Within(t), u, bytes.NewReader(file), ""))(t).ID
	}
	forwarded := func(id simnet.MessageID) simnet.MessageID {
		return SentID(t, c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": to, "sourceMsgId": id, "destJid": to}))
	}
	image := c.SendsMedia(t, Object{"jid": to, "url": web.Has("/a.gif", file), "type": "image", "caption": "look"})
	for name, id := range map[string]simnet.MessageID{
		"an image": image, "a video": c.SendsMedia(t, Object{"jid": to, "url": web.URL + "/a.gif", "type": "video"}),
		"as its bytes are": upload(client.Upload{}, file), "forwarded": forwarded(image), "an MP4": upload(client.Upload{GIF: true}, Film()),
	} {
		got := Must(c.Anna.ReceivedID(Within(t), id))(t)
		if film := got.Message.Message.GetVideoMessage(); !film.GetGifPlayback() {
			t.Errorf("%s arrived as %v", name, got.Message.Message)
		}
		if still, err := jpeg.DecodeConfig(bytes.NewReader(got.Message.Message.GetVideoMessage().GetJPEGThumbnail())); err != nil && name != "an MP4" || max(still.Width, still.Height) > 100 {
			t.Errorf("%s has a thumbnail of %d by %d pixels, %v", name, still.Width, still.Height, err)
		}
		if _, err := c.Anna.Computer().Open(Within(t), got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if m := Must(c.Bridge.API.Message(Within(t), to, id))(t); m.Media == nil || !m.Media.GIF || m.Media.Type != bridge.MediaVideo {
			t.Errorf("%s is stored as %+v", name, m.Media)
		}
	}
	album := Object{"jid": to, "items": []Object{{"url": web.URL + "/a.gif", "type": "image"}, {"url": web.URL + "/a.gif", "type": "image"}}}
	if refused := c.Bridge.Post("/api/messages/send-album", album); refused.Status != http.StatusBadRequest || !strings.Contains(refused.Error(), "items[0]: the apps show no GIFs in albums") {
		t.Errorf("an album of GIFs: %d %s", refused.Status, refused.Body)
	}
	theirs := Must(c.Anna.SendVideo(Within(t), c.Owner.PN(), simnet.Media{Data: Film(), GIF: true}))(t)
	if err := c.Device.WaitAcknowledged(Within(t), theirs); err != nil {
		t.Fatal(err)
	}
	if m := Must(c.Bridge.API.Message(Within(t), to, theirs))(t); m.Media == nil || !m.Media.GIF {
		t.Errorf("a GIF of Anna's is stored as %+v", m.Media)
	}
	Refused(t, c.Bridge.Post("/api/messages/send-media", Object{"jid": to, "url": web.URL + "/a.gif", "type": "image", "gif": true}), http.StatusBadRequest, bridge.CodeInvalid, "gif is for video only")
	c.Bridge.LeavesNoFile()
}

// TestGIF_WithoutFFmpeg: the error says what to do, and a document is always possible.
func TestGIF_WithoutFFmpeg(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback, "FFMPEG=off")
	body := Object{"jid": c.Anna.PN().String(), "url": NewWebsite(t).Has("/a.gif", movingGIF(t)), "type": "image"}
	Refused(t, c.Bridge.Post("/api/messages/send-media", body), http.StatusBadRequest, bridge.CodeUnsupportedMedia, "send it as a document, or install ffmpeg")
	c.SendsMedia(t, With(body, Object{"type": "document"}))
}
