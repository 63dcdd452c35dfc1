package media

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

// groupPicture returns the picture of a group that is made of a file.
func groupPicture(t *testing.T, p *Preparer, file []byte) ([]byte, error) {
	t.Helper()
	received, err := p.Receive(t.Context(), Incoming{From: bytes.NewReader(file), Declared: int64(len(file))})
	if err != nil {
		t.Fatal(err)
	}
	defer received.Close()
	return p.SquarePicture(t.Context(), received)
}

// TestGroupPicture_IsTheMiddle: of pictures in every form, upright and on white, within the sides
// that the network takes.
func TestGroupPicture_IsTheMiddle(t *testing.T) {
	p := newStickers(t)
	for _, size := range []image.Point{{10, 10}, {192, 500}, {639, 641}, {1281, 1281}, {3000, 1400}} {
		picture := image.NewNRGBA(image.Rectangle{Max: size})
		side := min(size.X, size.Y)
		middle := image.Rect(0, 0, side, side).Add(image.Pt((size.X-side)/2, (size.Y-side)/2))
		for x := range size.X {
			for y := range size.Y {
				if !image.Pt(x, y).In(middle) {
					picture.Set(x, y, color.Black)
				}
			}
		}
		got, err := groupPicture(t, p, mediatest.PNG(t, picture))
		if err != nil {
			t.Errorf("%v: %v", size, err)
			continue
		}
		shown, err := jpeg.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		want := min(max(side, 192), 640)
		if shown.Bounds() != image.Rect(0, 0, want, want) {
			t.Errorf("%v became %v", size, shown.Bounds())
		}
		for _, at := range []image.Point{{1, 1}, {want - 2, want - 2}, {want / 2, want / 2}} {
			if r, _, _, _ := shown.At(at.X, at.Y).RGBA(); r>>8 < 240 { // transparent is white, and black is cut off
				t.Errorf("%v: %v at %v", size, shown.At(at.X, at.Y), at)
			}
		}
	}
}

// TestGroupPicture_RefusesWhatItCannotDecode: no picture, and one that is too large to be decoded.
func TestGroupPicture_RefusesWhatItCannotDecode(t *testing.T) {
	p := newStickers(t)
	for _, c := range []struct {
		file string
		code bridge.Code
		says string
	}{
		{"", bridge.CodeInvalid, "the picture is empty"},
		{"<svg/>", bridge.CodeUnsupportedMedia, "cannot be read as a picture"},
		{string(mediatest.Bomb(40_000, 40_000)), bridge.CodeUnsupportedMedia, "has 40000 by 40000 pixels"},
	} {
		if _, err := groupPicture(t, p, []byte(c.file)); bridge.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.10q: %v", c.file, err)
		}
	}
}
