package media

import (
	"bytes"
	"image"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
)

// TestMediaShown_PicturesAreConverted: phones show JPEG, so a PNG arrives as one,
// and the bridge's own copy is the sent one.
func TestMediaShown_PicturesAreConverted(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	url := NewWebsite(t).Has("/map.png", demo.Picture(640, 400))
	for _, mimetype := range []string{"", "image/png"} {
		id := c.SendsMedia(t, Object{"jid": c.Anna.PN().String(), "url": url, "type": "image", "mimetype": mimetype})
		got := Must(c.Anna.ReceivedID(Within(t), id))(t)
		file := Must(c.Anna.Show(Within(t), got))(t)
		config, format, err := image.DecodeConfig(bytes.NewReader(file))
		if err != nil || format != "jpeg" || config.Width != 640 || config.Height != 400 {
			t.Errorf("a %s of %d by %d arrived: %v", format, config.Width, config.Height, err)
		}
		hasMeasures(t, got.Message.Message)
		served := c.Bridge.Get(bridge.DownloadPath(bridge.JID(c.Anna.PN().String()), id)).Want(http.StatusOK)
		if !bytes.Equal(served.Body, file) || served.Header.Get("Content-Type") != "image/jpeg" {
			t.Errorf("the bridge serves %d bytes of %s, sent were %d", len(served.Body), served.Header.Get("Content-Type"), len(file))
		}
	}
	c.Bridge.LeavesNoFile()
}

// TestMediaShown_OthersAreRefused: files that no phone shows are refused with a
// remedy, and arrive as documents.
func TestMediaShown_OthersAreRefused(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	web := NewWebsite(t)
	uploads := c.Network.CDN().Uploads()
	for name, f := range map[string]struct {
		kind string
		file []byte
	}{
		"photo.heic": {"image", append([]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), Noise(500)...)},
		"photo.avif": {"image", append([]byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif"), Noise(500)...)},
		"scan.tiff":  {"image", append([]byte("II*\x00"), Noise(500)...)},
		"clip.webm":  {"video", append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm"), Noise(500)...)},
		"clip.mkv":   {"video", append([]byte("\x1a\x45\xdf\xa3\xa3\x42\x82\x88matroska"), Noise(500)...)},
	} {
		body := Object{"jid": c.Anna.PN().String(), "url": web.Has("/"+name, f.file), "type": f.kind}
		Refused(t, c.Bridge.Post("/api/messages/send-media", body), http.StatusBadRequest, bridge.CodeUnsupportedMedia, "send it as a document")
		if n := c.Network.CDN().Uploads() - uploads; n != 0 {
			t.Errorf("%s: %d uploads", name, n)
		}
		id := c.SendsMedia(t, With(body, Object{"type": "document"}))
		if got := Must(c.Anna.Show(Within(t), Must(c.Anna.ReceivedID(Within(t), id))(t)))(t); !bytes.Equal(got, f.file) {
			t.Errorf("%s arrived with other bytes", name)
		}
		uploads++
	}
}
