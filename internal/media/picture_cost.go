package media

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"slices"
	"time"
)

const (
	// maxDecoded limits the memory for decoding a picture, in bytes.
	maxDecoded = 150 << 20
	// maxDecoding limits the time: a progressive JPEG may have any number of passes.
	maxDecoding = 20 * time.Second
)

// pictureHead describes a picture before it is decoded.
type pictureHead struct {
	image.Config
	jpegHead
	format     string
	webp       webp
	interlaced bool // of a PNG: it comes in seven passes
}

// readPictureHead reads a picture's head. What it does not say is taken for the most expensive.
func readPictureHead(r io.ReadSeeker) (head pictureHead, err error) {
	if head.Config, head.format, err = image.DecodeConfig(r); err != nil {
		return head, fmt.Errorf("read picture's head: %w", err)
	}
	switch head.format {
	case "jpeg":
		if head.jpegHead, err = guarded(r, readJPEGHead); err != nil {
			head.jpegHead = jpegHead{progressive: true}
		}
	case "png":
		head.interlaced, err = guarded(r, isInterlacedPNG)
		head.interlaced = head.interlaced || err != nil
	case "webp":
		if head.webp, err = guarded(r, readWebP); err != nil {
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

// jpegCost: all coefficients of a progressive picture are held beside it, four bytes each.
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

// pngCost: eight bytes where a grey of 16 bits has a transparent one. The passes of an
// interlaced picture are together as large as the whole.
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

// webpCost: what is lossless, as transparency usually is, is decoded as four bytes, up to
// twice, beside the smaller pictures of its transforms.
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

// timed reads until a moment, which ends the decoder that reads from it.
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

func decodeInTime(r io.Reader) (image.Image, error) {
	picture, _, err := image.Decode(timed{r, time.Now().Add(maxDecoding)})
	if err != nil {
		return nil, fmt.Errorf("decode picture: %w", err)
	}
	return picture, nil
}
