package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"os"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

// enlarged returns a JPEG whose head claims another size.
func enlarged(t testing.TB, file []byte, w, h uint16) []byte {
	t.Helper()
	at := bytes.Index(file, []byte{0xFF, 0xC0, 0, 17, 8})
	if at < 0 {
		t.Fatal("no frame header")
	}
	file = bytes.Clone(file)
	binary.BigEndian.PutUint16(file[at+5:], h)
	binary.BigEndian.PutUint16(file[at+7:], w)
	return file
}

func bmpFile(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := bmp.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// animation returns a GIF of several frames.
func animation(t testing.TB, frames int) []byte {
	t.Helper()
	var all gif.GIF
	for range frames {
		all.Image = append(all.Image, image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.White, color.Black}))
		all.Delay = append(all.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &all); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// matroska returns the head of a Matroska file of a document type.
func matroska(docType string) []byte {
	head := append([]byte{0x42, 0x82, 0x80 | byte(len(docType))}, docType...)
	return append(append([]byte{0x1A, 0x45, 0xDF, 0xA3, 0x80 | byte(len(head))}, head...), make([]byte, 100)...)
}

// converted sends a picture through a preparer and returns what is sent.
func converted(t *testing.T, w *web, body []byte) image.Image {
	t.Helper()
	w.serve(served{body: body})
	f, cleanup, err := w.Prepare(t.Context(), Request{URL: w.url, Type: bridge.MediaImage})
	defer cleanup()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// near reports whether two colours look alike, as far as JPEG keeps them.
func near(a, b color.Color) bool {
	const tolerance = 6 << 8
	r1, g1, b1, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	for _, pair := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}} {
		if max(pair[0], pair[1])-min(pair[0], pair[1]) > tolerance {
			return false
		}
	}
	return true
}

func TestConvert_KeepsEveryPixelInItsPlace(t *testing.T) {
	w := newWeb(t)
	for name, file := range map[string][]byte{"png": mediatest.PNG(t, mediatest.Quarters(64, 48)), "gif": mediatest.GIF(t, mediatest.Quarters(64, 48)), "bmp": bmpFile(t, mediatest.Quarters(64, 48))} {
		t.Run(name, func(t *testing.T) {
			got := converted(t, w, file)
			for _, at := range []image.Point{{8, 8}, {56, 8}, {8, 40}, {56, 40}} {
				if want := mediatest.Quarters(64, 48).At(at.X, at.Y); !near(got.At(at.X, at.Y), want) {
					t.Errorf("at %v: %v, want %v", at, got.At(at.X, at.Y), want)
				}
			}
		})
	}
}

// TestConvert_TransparentIsWhite: JPEG has no transparency, and what was transparent
// would be black.
func TestConvert_TransparentIsWhite(t *testing.T) {
	w := newWeb(t)
	bounds := image.Rect(0, 0, 32, 16)
	glass, deep := image.NewNRGBA(bounds), image.NewNRGBA64(bounds)
	sheet := image.NewPaletted(bounds, color.Palette{color.NRGBA{}, color.NRGBA{R: 255, A: 128}})
	for y := range bounds.Dy() {
		for x := 16; x < bounds.Dx(); x++ {
			glass.SetNRGBA(x, y, color.NRGBA{R: 255, A: 128})
			deep.SetNRGBA64(x, y, color.NRGBA64{R: 0xFFFF, A: 0x8000})
			sheet.SetColorIndex(x, y, 1)
		}
	}
	for name, picture := range map[string]image.Image{"8 bit": glass, "16 bit": deep, "palette": sheet} {
		t.Run(name, func(t *testing.T) {
			got := converted(t, w, mediatest.PNG(t, picture))
			if !near(got.At(4, 4), color.White) || !near(got.At(28, 12), color.RGBA{R: 255, G: 127, B: 127, A: 255}) {
				t.Errorf("got %v and %v", got.At(4, 4), got.At(28, 12))
			}
		})
	}
	webp := image.NewNYCbCrA(bounds, image.YCbCrSubsampleRatio420) // as lossy WebP is decoded
	if got := onWhite(webp).At(3, 3); !near(got, color.White) {
		t.Errorf("transparent WebP is %v", got)
	}
}

func TestConvert_RefusesWhatCannotBeShown(t *testing.T) {
	w := newWeb(t)
	picture := mediatest.PNG(t, mediatest.Quarters(300, 120))
	animatedWebP := append([]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00"), make([]byte, 20)...)
	for name, c := range map[string]struct {
		body []byte
		says string
	}{
		"cut picture":     {picture[:len(picture)-30], "cannot be decoded"},
		"signature alone": {picture[:9], "cannot be decoded"},
		"bomb":            {mediatest.Bomb(60000, 60000), "60000 by 60000 pixels"},
		"long":            {mediatest.Bomb(70000, 1), "70000 by 1 pixels"},
		"animated GIF":    {animation(t, 2), "or install ffmpeg"},
		"animated WebP":   {animatedWebP, "animated"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.prepare(served{body: c.body}, Request{Type: bridge.MediaImage})
			mediatest.WantCode(t, err, bridge.CodeUnsupportedMedia)
			var named *bridge.Error
			if !errors.As(err, &named) || !strings.Contains(named.Msg, c.says) || !strings.Contains(named.Msg, "send it as a document") {
				t.Errorf("got %v", err)
			}
			if _, err := w.prepare(served{body: c.body}, Request{Type: bridge.MediaDocument}); err != nil {
				t.Errorf("as a document: %v", err)
			}
		})
	}
	if _, err := w.prepare(served{body: animation(t, 1)}, Request{Type: bridge.MediaImage}); err != nil {
		t.Errorf("a still GIF: %v", err)
	}
}

// TestPrepare_RefusesWhatTheAppsDoNotShow: the network takes any file, and the
// recipient sees an empty frame.
func TestPrepare_RefusesWhatTheAppsDoNotShow(t *testing.T) {
	w := newWeb(t)
	brand := func(name string) []byte {
		return append(mediatest.Box("ftyp", []byte(name), mediatest.Words(0), []byte(name)), make([]byte, 64)...)
	}
	for name, c := range map[string]struct {
		body   []byte
		kind   bridge.MediaType
		served string
	}{
		"HEIC":        {brand("heic"), bridge.MediaImage, "image/jpeg"},
		"AVIF":        {brand("avif"), bridge.MediaImage, "image/avif"},
		"TIFF":        {append([]byte("II*\x00"), make([]byte, 100)...), bridge.MediaImage, "image/jpeg"},
		"no known":    {mediatest.RandomBytes(99), bridge.MediaImage, "image/x-strange"},
		"WebM":        {matroska("webm"), bridge.MediaVideo, "video/mp4"},
		"MKV":         {matroska("matroska"), bridge.MediaVideo, ""},
		"AVI":         {append([]byte("RIFF\x00\x01\x00\x00AVI LIST"), make([]byte, 64)...), bridge.MediaVideo, ""},
		"MPEG":        {append([]byte{0, 0, 1, 0xBA}, make([]byte, 64)...), bridge.MediaVideo, ""},
		"Flash video": {append([]byte("FLV\x01"), make([]byte, 64)...), bridge.MediaVideo, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, given := range []string{"", string(c.kind) + "/" + map[bridge.MediaType]string{bridge.MediaImage: "jpeg", bridge.MediaVideo: "mp4"}[c.kind]} {
				_, err := w.prepare(served{body: c.body, contentType: c.served}, Request{Type: c.kind, MimeType: given})
				mediatest.WantCode(t, err, bridge.CodeUnsupportedMedia)
				if err != nil && !strings.Contains(err.Error(), "send it as a document") {
					t.Errorf("says %v", err)
				}
			}
			if _, err := w.prepare(served{body: c.body}, Request{Type: bridge.MediaDocument}); err != nil {
				t.Errorf("as a document: %v", err)
			}
		})
	}
}

// TestConvert_HoldsOnePictureInMemory: a small file can be an enormous picture, and
// many may be sent at once.
func TestConvert_HoldsOnePictureInMemory(t *testing.T) {
	w := newWeb(t)
	w.serve(served{body: mediatest.PNG(t, image.NewNRGBA(image.Rect(0, 0, 3000, 2000)))})
	const decoded = 3000 * 2000 * 4
	grown := mediatest.HeapPeak(func() {
		done := make(chan error)
		for range 4 {
			go func() {
				_, cleanup, err := w.Prepare(context.Background(), Request{URL: w.url, Type: bridge.MediaImage})
				cleanup()
				done <- err
			}()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	t.Logf("4 pictures of %d MiB decoded: +%d MiB", decoded>>20, grown>>20)
	if grown > 3*decoded { // the present one, and one that is not collected yet
		t.Errorf("converting takes %d MiB", grown>>20)
	}
}
