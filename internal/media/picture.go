package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"time"

	"golang.org/x/image/draw"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
)

const (
	thumbnailSide    = 100 // the longer one; the apps show it blurred until the picture is loaded
	thumbnailQuality = 60
	smallQuality     = 80 // of pictures that are scaled for a reader
)

// measureImage reads a picture's dimensions, and makes its thumbnail if decoding is affordable.
func (p *Preparer) measureImage(ctx context.Context, f *bridge.File, r io.ReadSeeker) error {
	done, err := p.decoding.Acquire(ctx)
	defer done()
	if err != nil {
		return err
	}
	picture, head, err := probe.DecodeWithin(r, probe.DecodingTimeout)
	f.Width, f.Height = head.Width, head.Height
	if head.Orientation > 4 { // on its side
		f.Width, f.Height = f.Height, f.Width
	}
	if err != nil {
		return err
	}
	f.Thumbnail, err = encodeThumbnail(picture, head.Orientation)
	return err
}

// Scale returns a picture as an upright JPEG whose longer side has at most so many pixels. It observes
// the deadline of ctx. It fails with [bridge.CodeUnsupportedMedia], or with the error of ctx.
func (p *Preparer) Scale(ctx context.Context, file []byte, side int) ([]byte, error) {
	return p.ScaleFrom(ctx, bytes.NewReader(file), side)
}

// ScaleFrom does what Scale does, for a picture that it reads into memory when it is its turn. The
// errors of the reader are returned, too: it has to be a file that is whole.
func (p *Preparer) ScaleFrom(ctx context.Context, from io.Reader, side int) ([]byte, error) {
	done, err := p.decoding.Acquire(ctx)
	defer done()
	if err != nil {
		return nil, err
	}
	file, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	most := probe.DecodingTimeout
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline))
	}
	small, err := probe.Guarded(bytes.NewReader(file), func(r io.ReadSeeker) ([]byte, error) {
		picture, head, err := probe.DecodeWithin(r, most)
		if err != nil {
			return nil, err
		}
		return encodeSmall(coarse(picture), head.Orientation, side, smallQuality)
	})
	if err != nil {
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the picture is too large, or of a kind that cannot be shown").Because(err)
	}
	return small, nil
}

// Sides of a group's picture, in pixels: the apps scale larger ones down and take no smaller ones.
const (
	groupSide    = 640
	minGroupSide = 192
)

// SquarePicture returns the middle of a picture as the square, upright JPEG that the network takes
// for a group. It fails with [bridge.CodeInvalid] and [bridge.CodeUnsupportedMedia].
func (p *Preparer) SquarePicture(ctx context.Context, f *Received) ([]byte, error) {
	if f.size == 0 {
		return nil, bridge.Invalid("the picture is empty")
	}
	done, err := p.decoding.Acquire(ctx)
	defer done()
	if err != nil {
		return nil, err
	}
	square, err := probe.Guarded(f.file, func(r io.ReadSeeker) ([]byte, error) {
		picture, head, err := probe.DecodeWithin(r, probe.DecodingTimeout)
		if err != nil {
			return nil, err
		}
		return encodeSquare(picture, head.Orientation)
	})
	if large, ok := errors.AsType[probe.TooLarge](err); ok {
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the picture has %d by %d pixels, too many to convert: scale it down to %d by %d",
			large.Size.X, large.Size.Y, groupSide, groupSide).Because(err)
	}
	if err != nil {
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the file cannot be read as a picture: send a JPEG, PNG, WebP, GIF or BMP").Because(err)
	}
	return square, nil
}

func encodeSquare(picture image.Image, orientation int) ([]byte, error) {
	from := picture.Bounds()
	side := min(from.Dx(), from.Dy())
	corner := from.Min.Add(image.Pt((from.Dx()-side)/2, (from.Dy()-side)/2))
	middle := image.Rectangle{corner, corner.Add(image.Pt(side, side))}
	if side > 2*groupSide { // scaling it well would take memory for all of its lines
		coarse := newSquare(2 * groupSide)
		draw.NearestNeighbor.Scale(coarse, coarse.Rect, picture, middle, draw.Src, nil)
		picture, middle = coarse, coarse.Rect
	}
	square := newSquare(min(max(side, minGroupSide), groupSide))
	draw.Draw(square, square.Rect, image.White, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(square, square.Rect, picture, middle, draw.Over, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, upright(square, orientation), &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}

func newSquare(side int) *image.RGBA { return image.NewRGBA(image.Rect(0, 0, side, side)) }

func encodeThumbnail(picture image.Image, orientation int) ([]byte, error) {
	return encodeSmall(picture, orientation, thumbnailSide, thumbnailQuality)
}

func encodeSmall(picture image.Image, orientation, side, quality int) ([]byte, error) {
	small := upright(shrink(picture, side), orientation)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}

// shrink scales a picture down, on white. Small ones keep their size.
func shrink(picture image.Image, side int) *image.RGBA {
	small := image.NewRGBA(within(picture, side))
	draw.Draw(small, small.Rect, image.White, image.Point{}, draw.Src)
	draw.BiLinear.Scale(small, small.Rect, picture, picture.Bounds(), draw.Over, nil)
	return small
}

// within returns the bounds of a picture after it is scaled down to fit into a square.
func within(picture image.Image, side int) image.Rectangle {
	width, height := picture.Bounds().Dx(), picture.Bounds().Dy()
	if longer := max(width, height); longer > side {
		width, height = max(1, width*side/longer), max(1, height*side/longer)
	}
	return image.Rect(0, 0, width, height)
}

func upright(src *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation > 8 {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	size := image.Rect(0, 0, w, h)
	if orientation > 4 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			from := [...]image.Point{
				2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
				5: {y, x}, 6: {y, h - 1 - x}, 7: {w - 1 - y, h - 1 - x}, 8: {w - 1 - y, x},
			}[orientation]
			dst.SetRGBA(x, y, src.RGBAAt(from.X, from.Y))
		}
	}
	return dst
}

// TypeOf returns the kind of media that the apps show a file as. A sticker has no caption.
func (p *Preparer) TypeOf(f *Received, captioned bool) (bridge.MediaType, error) {
	k, err := sniffKind(f.file)
	if err != nil {
		return "", disk.Failed(err)
	}
	if !captioned && p.isSticker(f.file, f.size, k) {
		return bridge.MediaSticker, nil
	}
	switch {
	case (k.MIMEType == probe.JpegType || k.isConverted(bridge.MediaImage)) && !probe.IsAnimated(f.file, k.MIMEType):
		return bridge.MediaImage, nil
	case k.IsVideo(), p.opts.Converter != nil && k.isMovingGIF(f.file):
		return bridge.MediaVideo, nil
	case k.AudioType() != "":
		return bridge.MediaAudio, nil
	}
	return bridge.MediaDocument, nil
}
