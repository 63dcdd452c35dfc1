package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"

	"github.com/HugoSmits86/nativewebp"
	"golang.org/x/image/draw"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
)

const (
	stickerSide = 512 // pixels at most
	// The largest stickers that the apps show, in bytes.
	maxSticker       = 100 << 10
	maxMovingSticker = 500 << 10
)

// isSticker reports whether a file is WebP as makers of stickers send it.
func (p *Preparer) isSticker(file *os.File, size int64, k kind) bool {
	if k.MIMEType != probe.WebpType {
		return false
	}
	f := bridge.File{Size: size}
	return p.checkSticker(&f, file) == nil && f.Width == stickerSide && f.Height == stickerSide
}

// sticker describes a file that is sent as a sticker. PNG and JPEG become WebP.
func (p *Preparer) sticker(ctx context.Context, f *bridge.File, file *os.File, k kind) error {
	done, err := p.decoding.Acquire(ctx)
	defer done()
	if err != nil {
		return err
	}
	f.MimeType = probe.WebpType
	if k.MIMEType == probe.WebpType {
		return p.checkSticker(f, file)
	}
	webp, err := probe.Guarded(file, func(r io.ReadSeeker) (webp []byte, err error) {
		picture, head, err := probe.DecodeWithin(r, probe.DecodingTimeout)
		if err == nil {
			webp, f.Width, err = encodeSticker(coarse(picture), head.Orientation)
		}
		return webp, err
	})
	if err != nil {
		return noSticker(k, err)
	}
	f.Height = f.Width
	if f.Size, err = p.overwrite(file, func(w io.Writer) error { _, err := w.Write(webp); return err }); err != nil {
		return disk.Failed(err)
	}
	return nil
}

func noSticker(k kind, cause error) error {
	if large, ok := errors.AsType[probe.TooLarge](cause); ok {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the picture has %d by %d pixels, too many to make a sticker of this %s: scale it to %d by %d",
			large.Size.X, large.Size.Y, k.MIMEType, stickerSide, stickerSide).Because(cause)
	}
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s that cannot be made a sticker: check it, or scale it to %d by %d pixels", k.MIMEType, stickerSide, stickerSide).Because(cause)
}

// checkSticker measures a WebP file, and refuses one that the apps do not show as a sticker.
func (p *Preparer) checkSticker(f *bridge.File, file *os.File) error {
	w, err := probe.Guarded(file, probe.ReadWebP)
	if err != nil {
		return notWhole(err)
	}
	limit, what := int64(maxSticker), "a sticker"
	if w.Animated {
		limit, what = maxMovingSticker, "an animated sticker"
	}
	switch {
	case w.Width > stickerSide || w.Height > stickerSide:
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the sticker has %d by %d pixels, and the apps show at most %d by %d: scale it down", w.Width, w.Height, stickerSide, stickerSide)
	case f.Size > limit:
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the file has %d KiB, and the apps show %s of at most %d KiB: compress it more", (f.Size+1023)>>10, what, limit>>10)
	}
	if !w.Animated {
		if _, err := probe.Guarded(file, probe.Decode); err != nil {
			return notWhole(err)
		}
	}
	f.Width, f.Height, f.Animated = w.Width, w.Height, w.Animated
	return nil
}

func notWhole(cause error) error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is not a complete WebP picture, so it cannot be shown as a sticker: check it").Because(cause)
}

// encodeSticker returns a picture as lossless WebP in a transparent square, smaller if need be:
// the apps scale all stickers to one size.
func encodeSticker(picture image.Image, orientation int) (webp []byte, side int, err error) {
	const smallest = 96 // whose pixels fit as they are
	for side = stickerSide; ; {
		var out bytes.Buffer
		if err := nativewebp.Encode(&out, inSquare(picture, orientation, side), nil); err != nil {
			return nil, 0, fmt.Errorf("encode a sticker: %w", err)
		}
		if out.Len() <= maxSticker || side <= smallest {
			_, err := probe.Decode(bytes.NewReader(out.Bytes())) // others have to read it
			return out.Bytes(), side, err
		}
		smaller := float64(side) * math.Sqrt(float64(maxSticker)/float64(out.Len()))
		side = max(smallest, min(int(smaller), side-16))
	}
}

// coarse picks pixels of a picture until it is at most four times as large as a sticker:
// scaling it down well takes memory for all of its lines.
func coarse(picture image.Image) image.Image {
	bounds := within(picture, 4*stickerSide)
	if bounds.Size() == picture.Bounds().Size() {
		return picture
	}
	small := image.NewRGBA(bounds)
	draw.NearestNeighbor.Scale(small, bounds, picture, picture.Bounds(), draw.Src, nil)
	return small
}

// inSquare scales a picture to fit into a square, upright and in its middle.
func inSquare(picture image.Image, orientation, side int) image.Image {
	from := picture.Bounds()
	scale := float64(side) / float64(max(from.Dx(), from.Dy()))
	width, height := max(1, int(float64(from.Dx())*scale+0.5)), max(1, int(float64(from.Dy())*scale+0.5))
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	to := image.Rect(0, 0, width, height).Add(image.Pt((side-width)/2, (side-height)/2))
	draw.CatmullRom.Scale(square, to, picture, from, draw.Src, nil)
	return upright(square, orientation)
}
