package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/HugoSmits86/nativewebp"
	"github.com/rs/zerolog"
	xwebp "golang.org/x/image/webp"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// drawing returns a picture with some shapes on a transparent ground.
func drawing(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			if (x/16+y/16)%3 == 0 {
				img.SetNRGBA(x, y, color.NRGBA{R: 200, G: 30, B: 90, A: 255})
			}
		}
	}
	return img
}

// noise returns a picture that cannot be compressed.
func noise(side int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(random.UintN(256))
	}
	return img
}

// busy returns a picture of the largest size that is too rich to be a sticker.
func busy() *image.NRGBA {
	img := drawing(stickerSide, stickerSide)
	draw.Draw(img, image.Rect(0, 0, 180, 180), noise(180), image.Point{}, draw.Src)
	return img
}

func webpOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := nativewebp.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// chunkOf returns a chunk of a WebP file.
func chunkOf(name string, payload []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(payload)))
	if out = append(out, payload...); len(payload)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

func riffOf(chunks ...[]byte) []byte {
	all := bytes.Join(chunks, nil)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(all)+4)), append([]byte("WEBP"), all...)...)
}

// moving returns an animated WebP with frames of its own size.
func moving(t testing.TB, canvas, frame, frames int, ballast int) []byte {
	t.Helper()
	side := func(n int) []byte { return []byte{byte(n - 1), byte((n - 1) >> 8), byte((n - 1) >> 16)} }
	head := append(append([]byte{0x12, 0, 0, 0}, side(canvas)...), side(canvas)...)
	chunks := [][]byte{chunkOf("VP8X", head), chunkOf("ANIM", make([]byte, 6))}
	picture := webpOf(t, drawing(frame, frame))[12:]
	for range frames {
		payload := append(append(make([]byte, 6), side(frame)...), side(frame)...)
		chunks = append(chunks, chunkOf("ANMF", append(append(payload, 100, 0, 0, 0), picture...)))
	}
	if ballast > 0 {
		chunks = append(chunks, chunkOf("XMP ", make([]byte, ballast)))
	}
	return riffOf(chunks...)
}

func newStickers(t *testing.T) *Preparer {
	t.Helper()
	return NewPreparer(PreparerOptions{TempDir: t.TempDir(), MaxBytes: 8 << 20, Log: zerolog.Nop()})
}

// prepareSticker prepares a file that was received, and returns its bytes.
func prepareSticker(t *testing.T, content []byte) (bridge.File, []byte, error) {
	t.Helper()
	p := newStickers(t)
	received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(content), Announced: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer received.Close()
	f, err := p.PrepareReceived(t.Context(), Request{Type: bridge.MediaSticker}, received, "x", "")
	if err != nil {
		return f, nil, err
	}
	sent, err := os.ReadFile(f.Path)
	if err != nil || int64(len(sent)) != f.Size {
		t.Fatalf("%d bytes of %d: %v", len(sent), f.Size, err)
	}
	return f, sent, nil
}

func TestStickers_OfWebPGoAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content  []byte
		side     int
		animated bool
	}{
		"still": {webpOf(t, drawing(512, 512)), 512, false}, "small": {webpOf(t, drawing(96, 96)), 96, false},
		"animated": {moving(t, 512, 128, 3, 0), 512, true}, "large animated": {moving(t, 512, 512, 2, 400<<10), 512, true},
	} {
		f, sent, err := prepareSticker(t, c.content)
		if err != nil || !bytes.Equal(sent, c.content) || f.MimeType != "image/webp" || f.Width != c.side || f.Height != c.side || f.Animated != c.animated {
			t.Errorf("%s: %+v, %d bytes of %d, %v", name, f, len(sent), len(c.content), err)
		}
	}
}

// PNG and JPEG become lossless WebP in the middle of a transparent square.
func TestStickers_AreConverted(t *testing.T) {
	t.Parallel()
	encoded := func(img image.Image, asJPEG bool) []byte {
		var out bytes.Buffer
		err := png.Encode(&out, img)
		if asJPEG {
			out.Reset()
			err = jpeg.Encode(&out, img, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	sideways := withExif(encoded(drawing(64, 32), true), binary.BigEndian, 6)
	for name, c := range map[string]struct {
		content     []byte
		wide, whole bool // wider than high; all of the largest square
	}{
		"png": {encoded(drawing(256, 128), false), true, true}, "huge": {encoded(drawing(3000, 600), false), true, true},
		"jpeg": {encoded(drawing(300, 100), true), true, true}, "sideways": {sideways, false, true}, "noise": {encoded(noise(300), false), false, false},
		"one pixel": {encoded(drawing(1, 1), false), false, true}, "line": {encoded(drawing(1000, 1), false), true, true},
	} {
		f, sent, err := prepareSticker(t, c.content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := xwebp.Decode(bytes.NewReader(sent))
		if err != nil || img.Bounds().Dx() != f.Width || f.Width != f.Height || f.MimeType != "image/webp" || f.Animated || f.Size > maxSticker || (f.Width == stickerSide) != c.whole {
			t.Errorf("%s: %+v, %v", name, f, err)
			continue
		}
		if _, _, _, alpha := img.At(f.Width/2, 0).RGBA(); c.wide && alpha != 0 {
			t.Errorf("%s: there is something above the picture", name)
		}
		if _, _, _, alpha := img.At(0, f.Height/2).RGBA(); name == "sideways" && alpha != 0 {
			t.Errorf("%s: the picture lies on its side", name)
		}
	}
}

func TestStickers_ThatTheAppsDoNotShow(t *testing.T) {
	t.Parallel()
	var moves bytes.Buffer
	if err := gif.EncodeAll(&moves, &gif.GIF{Image: []*image.Paletted{image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.Black})}, Delay: []int{1}}); err != nil {
		t.Fatal(err)
	}
	still := webpOf(t, drawing(64, 64))
	cut := append([]byte(nil), still[:len(still)-20]...)
	lying := append([]byte(nil), still...)
	binary.LittleEndian.PutUint32(lying[4:], uint32(len(still)+100))
	scrambled := append([]byte(nil), still...)
	for i := 40; i < len(scrambled); i++ {
		scrambled[i] = 0xFF
	}
	outside := moving(t, 100, 128, 1, 0)
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"too many pixels": {webpOf(t, drawing(513, 100)), "513 by 100"}, "too many bytes": {webpOf(t, busy()), "100 KiB"},
		"too many moving bytes": {moving(t, 512, 64, 2, 600<<10), "500 KiB"}, "cut off": {cut, "WebP"}, "a wrong length": {lying, "WebP"},
		"scrambled": {scrambled, "WebP"}, "frames outside": {outside, "WebP"}, "no frames": {moving(t, 100, 50, 0, 0), "WebP"}, "no picture": {riffOf(chunkOf("XMP ", nil)), "WebP"},
		"gif": {moves.Bytes(), "not a sticker"}, "text": {[]byte("hello"), "not a sticker"}, "a broken png": {[]byte("\x89PNG\r\n\x1a\n broken"), "cannot be made a sticker"},
		"only the head": {still[:20], "WebP"},
	} {
		_, _, err := prepareSticker(t, c.content)
		if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Without a type what looks like a sticker is sent as one; a caption makes it a picture.
func TestStickers_AreFoundByTheirBytes(t *testing.T) {
	t.Parallel()
	p := newStickers(t)
	for name, c := range map[string]struct {
		content   []byte
		captioned bool
		want      bridge.MediaType
	}{
		"sticker": {webpOf(t, drawing(512, 512)), false, bridge.MediaSticker}, "animated": {moving(t, 512, 64, 2, 0), false, bridge.MediaSticker},
		"with a caption": {webpOf(t, drawing(512, 512)), true, bridge.MediaImage}, "another size": {webpOf(t, drawing(500, 512)), false, bridge.MediaImage},
		"animated, another size": {moving(t, 256, 64, 2, 0), false, bridge.MediaDocument}, "too large": {webpOf(t, busy()), false, bridge.MediaImage},
	} {
		received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(c.content), Announced: -1})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.TypeOf(received, c.captioned); err != nil || got != c.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		received.Close()
	}
}

func FuzzReadWebP(f *testing.F) {
	f.Add(webpOf(f, drawing(8, 8)))
	f.Add(moving(f, 16, 8, 2, 3))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzbudget.Usual.Check(t, len(content), func() {
			w, err := readWebP(bytes.NewReader(content))
			if err == nil && (w.width < 1 || w.height < 1) {
				t.Errorf("%+v", w)
			}
		})
	})
}
