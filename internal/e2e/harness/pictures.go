package harness

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// Portrait returns a picture that depends on its shade.
func Portrait(t testing.TB, size int, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, size, size))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.SetGray(0, 0, color.Gray{Y: 255 - shade})
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
