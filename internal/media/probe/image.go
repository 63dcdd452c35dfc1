package probe

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // so that image.Decode knows the formats
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"time"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/webp"
)

const (
	maxJPEGSide = 1<<16 - 1 // the format's limit
	// maxDecoded limits the memory for decoding a picture, in bytes.
	MaxDecoded = 150 << 20
	// maxDecoding limits the time: a progressive JPEG may have any number of passes.
	DecodingTimeout = 20 * time.Second
)

// pictureHead describes a picture before it is decoded.
type pictureHead struct {
	image.Config
	jpegHead
	format     string
	webp       webp
	interlaced bool // of a PNG: it comes in seven passes
}

// ReadPictureHead reads a picture's header. It assumes the most expensive value for missing fields.
func ReadPictureHead(r io.ReadSeeker) (head pictureHead, err error) {
	if head.Config, head.format, err = image.DecodeConfig(r); err != nil {
		return head, fmt.Errorf("read picture's head: %w", err)
	}
	switch head.format {
	case "jpeg":
		if head.jpegHead, err = Guarded(r, readJPEGHead); err != nil {
			head.jpegHead = jpegHead{progressive: true}
		}
		if _, err = Guarded(r, checkScans); err != nil {
			return head, err
		}
	case "png":
		head.interlaced, err = Guarded(r, isInterlacedPNG)
		head.interlaced = head.interlaced || err != nil
	case "webp":
		if head.webp, err = Guarded(r, ReadWebP); err != nil {
			head.webp = webp{lossless: true, alpha: true}
		}
	}
	return head, nil
}

// isInterlacedPNG reads the last byte of the first chunk (PNG, section 11.2.1).
func isInterlacedPNG(r io.ReadSeeker) (bool, error) {
	var head [29]byte
	_, err := io.ReadFull(r, head[:])
	return head[28] != 0, err
}

// cost returns the memory that decoding the picture allocates at most, in bytes. It is
// a float because the heads of some formats could make an integer overflow. A lossless
// WebP may take 140 MB more for its tables, where golang.org/x/image ends it.
func (h pictureHead) cost() float64 {
	width, height := float64(h.Width), float64(h.Height)
	switch h.format {
	case "jpeg": // is decoded in blocks of up to 32 by 16 pixels
		return (width + 31) * (height + 15) * jpegCost(h.ColorModel, h.progressive)
	case "png":
		return width * height * pngCost(h.ColorModel, h.interlaced)
	case "webp":
		return (width + 15) * (height + 15) * webpCost(h.webp)
	}
	return width * height * 4 // GIF: a byte, and one more for interlaced ones; BMP: up to four
}

// jpegCost returns the bytes of a pixel. A progressive picture's coefficients have four each.
func jpegCost(model color.Model, progressive bool) float64 {
	components, converted := 3.0, 0.0
	switch model {
	case color.GrayModel:
		components = 1
	case color.CMYKModel:
		components, converted = 4, 4
	case color.RGBAModel:
		converted = 4
	}
	if progressive {
		return components*5 + converted
	}
	return components + converted
}

// pngCost returns the bytes of a pixel: eight if a grey picture of 16 bits has a transparent colour.
// The passes of an interlaced picture are together as large as the whole.
func pngCost(model color.Model, interlaced bool) float64 {
	perPixel := 4.0
	if slices.Contains([]color.Model{color.RGBA64Model, color.NRGBA64Model, color.Gray16Model}, model) {
		perPixel *= 2
	}
	if interlaced {
		perPixel *= 2
	}
	return perPixel
}

// webpCost returns the bytes of a pixel. Lossless data, which usually includes transparency, takes
// four, up to twice, and the smaller pictures of its transforms.
func webpCost(w webp) float64 {
	perPixel := 1.7
	if w.lossless {
		perPixel = 9
	}
	if w.alpha {
		perPixel += 9 + 1
	}
	return perPixel
}

var errSlow = errors.New("the picture takes too long to decode")

// timed reads until a deadline, which ends the decoder that reads from it.
type timed struct {
	io.Reader
	until time.Time
}

func (t timed) Read(p []byte) (int, error) {
	if !time.Now().Before(t.until) {
		return 0, errSlow
	}
	return t.Reader.Read(p)
}

func decodeInTime(r io.Reader, within time.Duration) (image.Image, error) {
	picture, _, err := image.Decode(timed{r, time.Now().Add(within)})
	if err != nil {
		return nil, fmt.Errorf("decode picture: %w", err)
	}
	return picture, nil
}

// DecodeWithin decodes a picture unless it is too large, or takes too long.
func DecodeWithin(r io.ReadSeeker, within time.Duration) (image.Image, pictureHead, error) {
	head, err := ReadPictureHead(r)
	if err != nil {
		return nil, head, err
	}
	if head.cost() > MaxDecoded || max(head.Width, head.Height) > maxJPEGSide {
		return nil, head, TooLarge{image.Pt(head.Width, head.Height)}
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, head, err
	}
	picture, err := decodeInTime(r, within)
	return picture, head, err
}

func Decode(r io.ReadSeeker) (image.Image, error) {
	picture, _, err := DecodeWithin(r, DecodingTimeout)
	return picture, err
}

// TooLarge is the error of a picture whose pixels are not held in memory.
type TooLarge struct{ Size image.Point }

func (t TooLarge) Error() string {
	return fmt.Sprintf("picture of %d by %d pixels", t.Size.X, t.Size.Y)
}
