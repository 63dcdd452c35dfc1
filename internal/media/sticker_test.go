package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	xwebp "golang.org/x/image/webp"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/intake"
	"bridged/internal/media/mediatest"
	"bridged/internal/media/probe"
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

// busy returns a picture of the largest size that is too rich to be a sticker.
func busy() *image.NRGBA {
	img := drawing(stickerSide, stickerSide)
	draw.Draw(img, image.Rect(0, 0, 180, 180), mediatest.Noise(180), image.Point{}, draw.Src)
	return img
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
	picture := mediatest.WebP(t, drawing(frame, frame))[12:]
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
	received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(content), Declared: -1})
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
		"still": {mediatest.WebP(t, drawing(512, 512)), 512, false}, "small": {mediatest.WebP(t, drawing(96, 96)), 96, false},
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
	sideways := mediatest.WithExif(encoded(drawing(64, 32), true), binary.BigEndian, 6)
	for name, c := range map[string]struct {
		content     []byte
		wide, whole bool // wider than high; all of the largest square
	}{
		"png": {encoded(drawing(256, 128), false), true, true}, "huge": {encoded(drawing(3000, 600), false), true, true},
		"jpeg": {encoded(drawing(300, 100), true), true, true}, "sideways": {sideways, false, true}, "noise": {encoded(mediatest.Noise(300), false), false, false},
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
	still := mediatest.WebP(t, drawing(64, 64))
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
		"too many pixels": {mediatest.WebP(t, drawing(513, 100)), "513 by 100"}, "too many bytes": {mediatest.WebP(t, busy()), "100 KiB"},
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
		"sticker": {mediatest.WebP(t, drawing(512, 512)), false, bridge.MediaSticker}, "animated": {moving(t, 512, 64, 2, 0), false, bridge.MediaSticker},
		"with a caption": {mediatest.WebP(t, drawing(512, 512)), true, bridge.MediaImage}, "another size": {mediatest.WebP(t, drawing(500, 512)), false, bridge.MediaImage},
		"animated, another size": {moving(t, 256, 64, 2, 0), false, bridge.MediaDocument}, "too large": {mediatest.WebP(t, busy()), false, bridge.MediaImage},
	} {
		received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(c.content), Declared: -1})
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
	f.Add(mediatest.WebP(f, drawing(8, 8)))
	f.Add(moving(f, 16, 8, 2, 3))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzbudget.Usual.Check(t, len(content), func() {
			w, err := probe.ReadWebP(bytes.NewReader(content))
			if err == nil && (w.Width < 1 || w.Height < 1) {
				t.Errorf("%+v", w)
			}
		})
	})
}

// However many expensive pictures a token tree sends, BRIDGE_TOKEN's is decoded next.
func TestPictures_TokenTreesTakeTurns(t *testing.T) {
	p := newStickers(t)
	release, err := p.decoding.Acquire(bridge.WithTree(t.Context(), 7))
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan int64, 4)
	scale := func(tree int64) {
		if _, err := p.Scale(bridge.WithTree(t.Context(), tree), mediatest.GreyJPEG(100, 100, 3, false, 1), 10); err != nil {
			t.Error(err)
		}
		order <- tree
	}
	for range 3 {
		go scale(7)
	}
	next := make(chan struct{})
	go func() {
		defer close(next)
		release, err := p.decoding.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		if len(order) > 0 {
			t.Errorf("%d of a token tree were decoded before BRIDGE_TOKEN's", len(order))
		}
		release()
	}()
	for p.decoding.Waiting(intake.Operator) == 0 || p.decoding.Waiting(7) < 3 {
		time.Sleep(time.Millisecond)
	}
	release()
	<-next
	for range 3 {
		<-order
	}
}

// A progressive JPEG of 563 KB would take 550 MB as a sticker; see
// [TestPictureCost_CoversTheDecoders] for the others.
func TestPictureCost_ExpensiveOnesAreRefusedBeforeTheyAreDecoded(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		kind bridge.MediaType
	}{
		"a progressive JPEG as a sticker":  {mediatest.GreyJPEG(6_000, 6_000, 3, true, 1), bridge.MediaSticker},
		"behind markers that are no heads": {append([]byte{0xFF, 0xD8, 0xFF, 0xD0}, mediatest.GreyJPEG(6_000, 6_000, 3, true, 1)[2:]...), bridge.MediaSticker},
		"an interlaced PNG as a sticker":   {mediatest.EmptyPNG(t, 5_500, 5_500, 8, 6, nil, true), bridge.MediaSticker},
	} {
		t.Run(name, func(t *testing.T) {
			p := newStickers(t)
			received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(c.file), Declared: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer received.Close()
			var refused *bridge.Error
			took := mediatest.Allocated(func() {
				_, err = p.PrepareReceived(t.Context(), Request{Type: c.kind}, received, "x", "")
			})
			if !errors.As(err, &refused) || refused.Code != bridge.CodeUnsupportedMedia || took > 8<<20 {
				t.Errorf("%d KB took %d MB, and answered %v", len(c.file)>>10, took>>20, err)
			}
		})
	}
}
