package probe

import (
	"bytes"
	"testing"

	"bridged/internal/fuzzbudget"
	"bridged/internal/media/mediatest"
)

// Decoding a picture costs no more than was known before, beside a multiple of
// its bytes, whatever its format is.
func FuzzPicture(f *testing.F) {
	f.Add(mediatest.JPEG(f, mediatest.Quarters(16, 8)))
	f.Add(mediatest.WebPPixel(f))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\xff\xff\x00\x00\xff\xff\x08\x06\x00\x00\x00"))
	f.Add([]byte("BM"))
	perPicture := fuzzbudget.Budget{Base: MaxDecoded + 16<<20, PerByte: 512, Time: 20 * fuzzbudget.Usual.Time}
	f.Fuzz(func(t *testing.T, content []byte) {
		perPicture.Check(t, len(content), func() {
			picture, err := Decode(bytes.NewReader(content))
			if err == nil && picture.Bounds().Empty() {
				t.Error("a picture of nothing")
			}
		})
	})
}
