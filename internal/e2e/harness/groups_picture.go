package harness

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
)

// Banner returns a PNG that is white at both ends and of one colour in the middle.
func Banner(t testing.TB, middle color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1200, 700))
	for x := range 1200 {
		for y := range 700 {
			img.Set(x, y, color.White)
			if x >= 250 && x < 950 {
				img.Set(x, y, middle)
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Looks checks that a picture is a square JPEG of one colour.
func Looks(t testing.TB, what string, picture []byte, side int, want color.RGBA) {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Errorf("%s is no JPEG: %v", what, err)
		return
	}
	if size := img.Bounds().Size(); size != image.Pt(side, side) {
		t.Errorf("%s has %v", what, size)
	}
	near := func(a uint32, b uint8) bool { d := int(a>>8) - int(b); return d > -24 && d < 24 }
	for _, at := range []image.Point{{4, 4}, {side / 2, side / 2}, {side - 5, side - 5}} {
		if r, g, b, _ := img.At(at.X, at.Y).RGBA(); !near(r, want.R) || !near(g, want.G) || !near(b, want.B) {
			t.Errorf("%s is %v at %v", what, img.At(at.X, at.Y), at)
		}
	}
}
