package e2e

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/demo"
)

// photo returns a JPEG.
func photo(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, must(png.Decode(bytes.NewReader(demo.Picture(width, height))))(t), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestMediaShown_PicturesAreConverted: phones show JPEG, so a PNG arrives as one,
// and the bridge's own copy is the sent one.
func TestMediaShown_PicturesAreConverted(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	url := newWebsite(t).has("/map.png", demo.Picture(640, 400))
	for _, mimetype := range []string{"", "image/png"} {
		id := c.sendsMedia(t, object{"jid": c.anna.PN().String(), "url": url, "type": "image", "mimetype": mimetype})
		got := must(c.anna.ReceivedID(within(t), id))(t)
		file := must(c.anna.Show(within(t), got))(t)
		config, format, err := image.DecodeConfig(bytes.NewReader(file))
		if err != nil || format != "jpeg" || config.Width != 640 || config.Height != 400 {
			t.Errorf("a %s of %d by %d arrived: %v", format, config.Width, config.Height, err)
		}
		hasMeasures(t, got.Message.Message)
		served := c.bridge.Get(bridge.DownloadPath(bridge.JID(c.anna.PN().String()), id)).Want(http.StatusOK)
		if !bytes.Equal(served.Body, file) || served.Header.Get("Content-Type") != "image/jpeg" {
			t.Errorf("the bridge serves %d bytes of %s, sent were %d", len(served.Body), served.Header.Get("Content-Type"), len(file))
		}
	}
	c.bridge.leavesNoFile()
}

// TestMediaShown_OthersAreRefused: files that no phone shows are refused with a
// remedy, and arrive as documents.
func TestMediaShown_OthersAreRefused(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	web := newWebsite(t)
	uploads := c.network.CDN().Uploads()
	for name, f := range map[string]struct {
		kind string
		file []byte
	}{
		"photo.heic": {"image", append([]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), noise(500)...)},
		"photo.avif": {"image", append([]byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif"), noise(500)...)},
		"scan.tiff":  {"image", append([]byte("II*\x00"), noise(500)...)},
		"clip.webm":  {"video", append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm"), noise(500)...)},
		"clip.mkv":   {"video", append([]byte("\x1a\x45\xdf\xa3\xa3\x42\x82\x88matroska"), noise(500)...)},
	} {
		body := object{"jid": c.anna.PN().String(), "url": web.has("/"+name, f.file), "type": f.kind}
		refused(t, c.bridge.Post("/api/messages/send-media", body), http.StatusBadRequest, bridge.CodeUnsupportedMedia, "send it as a document")
		if n := c.network.CDN().Uploads() - uploads; n != 0 {
			t.Errorf("%s: %d uploads", name, n)
		}
		id := c.sendsMedia(t, with(body, object{"type": "document"}))
		if got := must(c.anna.Show(within(t), must(c.anna.ReceivedID(within(t), id))(t)))(t); !bytes.Equal(got, f.file) {
			t.Errorf("%s arrived with other bytes", name)
		}
		uploads++
	}
}
