package probe

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/media/mediatest"
)

// gifOf returns a GIF whose picture is interlaced.
func gifOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := gif.Encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White}), nil); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	at := bytes.IndexByte(file[13:], 0x2C) + 13 // the image descriptor
	file[at+9] |= 0x40
	return file
}

// What a picture is taken to cost covers what its decoder allocates, and is not far
// above.
func TestPictureCost_CoversTheDecoders(t *testing.T) {
	const side = 1000
	const slack = 1 << 20
	files := map[string][]byte{
		"png":                       mediatest.EmptyPNG(t, side, side, 8, 6, nil, false),
		"png, interlaced":           mediatest.EmptyPNG(t, side, side, 8, 6, nil, true),
		"png of 16 bits":            mediatest.EmptyPNG(t, side, side, 16, 6, nil, false),
		"png of 16 bits, interl.":   mediatest.EmptyPNG(t, side, side, 16, 6, nil, true),
		"png, grey of 16 bits":      mediatest.EmptyPNG(t, side, side, 16, 0, []byte{0, 1}, false),
		"png, grey, interlaced":     mediatest.EmptyPNG(t, side, side, 16, 0, []byte{0, 1}, true),
		"png of one transparency":   mediatest.EmptyPNG(t, side, side, 8, 2, make([]byte, 6), true),
		"gif, interlaced":           gifOf(t, side, side),
		"webp, lossless":            mediatest.WebP(t, mediatest.Noise(800)),
		"jpeg, tall":                mediatest.GreyJPEG(1, 60_000, 3, true, 1),
		"jpeg with unknown markers": append([]byte{0xFF, 0xD8, 0xFF, 0xD0}, mediatest.GreyJPEG(side, side, 3, true, 1)[2:]...),
	}
	for _, progressive := range []bool{false, true} {
		for _, components := range []int{1, 3, 4} {
			for _, transform := range []byte{0, 1, 2} {
				files[fmt.Sprintf("jpeg of %d components, transform %d, progressive %t", components, transform, progressive)] = mediatest.GreyJPEG(side, side, components, progressive, transform)
			}
		}
	}
	for name, file := range files {
		head, err := ReadPictureHead(bytes.NewReader(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		took := float64(mediatest.Allocated(func() { _, _, err = image.Decode(bytes.NewReader(file)) }))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if cost := head.cost(); took > cost+slack || took < cost/10-slack {
			t.Errorf("%s of %d KB: decoding takes %.1f MB, and the cost is %.1f MB", name, len(file)>>10, took/(1<<20), cost/(1<<20))
		}
	}
}

// slow is a file of which each piece takes long.
type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(DecodingTimeout / 3)
	return s.Reader.Read(p)
}

// A picture that takes too long ends.
func TestPictureCost_SlowOnesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := mediatest.GreyJPEG(3_000, 3_000, 3, true, 1)
		began := time.Now()
		if _, err := decodeInTime(slow{bytes.NewReader(file)}, DecodingTimeout); !errors.Is(err, errSlow) || time.Since(began) > 2*DecodingTimeout {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// scansOf returns a progressive JPEG with so many passes over its first component, each of
// which says with some bytes that nothing is in it (ITU T.81, G.1.2.2: runs of 2^14 blocks).
func scansOf(width, height, scans int) []byte {
	file := bytes.TrimSuffix(mediatest.GreyJPEG(width, height, 3, true, 1), []byte{0xFF, 0xD9})
	table := append([]byte{0xFF, 0xC4, 0, 20, 0x10, 1}, make([]byte, 15)...)
	file = append(append(file, table...), 0xE0)
	runs := (width+7)/8*((height+7)/8)/(1<<14) + 1
	scan := append([]byte{0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0}, make([]byte, runs*15/8+1)...)
	return append(append(file, bytes.Repeat(scan, scans)...), 0xFF, 0xD9)
}

// A JPEG with a thousand passes is refused before it is decoded; one with as many as encoders
// write is not.
func TestPictureCost_ManyScans(t *testing.T) {
	many := scansOf(3000, 3000, 1000)
	began := time.Now()
	if _, _, err := DecodeWithin(bytes.NewReader(many), DecodingTimeout); !errors.Is(err, errManyScans) {
		t.Errorf("%d KB: %v", len(many)>>10, err)
	}
	t.Logf("%d KB refused after %v", len(many)>>10, time.Since(began))
	for _, scans := range []int{0, 20, maxScans - 1} {
		file := scansOf(300, 200, scans)
		if _, _, err := image.Decode(bytes.NewReader(file)); err != nil {
			t.Fatalf("the test's picture: %v", err)
		}
		if _, _, err := DecodeWithin(bytes.NewReader(file), DecodingTimeout); err != nil {
			t.Errorf("%d passes: %v", scans, err)
		}
	}
}

func TestPictureCost_LimitsThePixels(t *testing.T) {
	for _, c := range []struct {
		config      image.Config
		format      string
		progressive bool
		affordable  bool
	}{
		{image.Config{Width: 8000, Height: 6000, ColorModel: color.YCbCrModel}, "jpeg", false, true}, // large phones' pictures
		{image.Config{Width: 9000, Height: 9000, ColorModel: color.YCbCrModel}, "jpeg", false, false},
		{image.Config{Width: 6000, Height: 4000}, "jpeg", true, false},
		{image.Config{Width: 3000, Height: 3000}, "jpeg", true, true},
		{image.Config{Width: 6000, Height: 4000, ColorModel: color.NRGBAModel}, "png", false, true},
		{image.Config{Width: 6000, Height: 4000, ColorModel: color.NRGBA64Model}, "png", false, false},
		{image.Config{Width: 1 << 31, Height: 1 << 31}, "gif", false, false},
	} {
		head := pictureHead{Config: c.config, format: c.format, jpegHead: jpegHead{progressive: c.progressive}}
		if got := head.cost() <= MaxDecoded; got != c.affordable {
			t.Errorf("%s %d by %d (progressive %v): affordable %v", c.format, c.config.Width, c.config.Height, c.progressive, got)
		}
	}
}
