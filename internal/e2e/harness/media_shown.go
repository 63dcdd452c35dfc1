package harness

import (
	"bytes"
	"image/jpeg"
	"image/png"
	"testing"

	"bridged/internal/demo"
)

// Photo returns a JPEG.
func Photo(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, Must(png.Decode(bytes.NewReader(demo.Picture(width, height))))(t), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
