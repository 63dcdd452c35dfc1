package media

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // so that image.Decode knows the formats
	"image/jpeg"
	_ "image/png"
	"io"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"

	"bridged/internal/bridge"
)

const (
	// thumbnailSide is the longer side of a thumbnail, which the apps show blurred
	// until the picture is loaded.
	thumbnailSide    = 100
	thumbnailQuality = 60
)

// measureImage determines a picture's dimensions and makes its thumbnail. The
// dimensions come from the head of the file; the picture is decoded only if that is
// affordable.
func (p *Preparer) measureImage(f *bridge.File, r io.ReadSeeker) error {
	head, err := readPictureHead(r)
	if err != nil {
		return err
	}
	f.Width, f.Height = head.Width, head.Height
	if head.jpeg.isSideways() {
		f.Width, f.Height = f.Height, f.Width
	}
	if head.cost() > maxDecoded {
		return fmt.Errorf("picture of %d by %d is too large for a thumbnail", head.Width, head.Height)
	}
	f.Thumbnail, err = p.thumbnail(r, head.jpeg.orientation)
	return err
}

// thumbnail makes a JPEG thumbnail of a picture. It decodes one picture at a time.
func (p *Preparer) thumbnail(r io.ReadSeeker, orientation int) ([]byte, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	p.decoding.Lock()
	defer p.decoding.Unlock()
	picture, err := decodeInTime(r)
	if err != nil {
		return nil, err
	}
	return encodeThumbnail(picture, orientation)
}

// encodeThumbnail returns the thumbnail of a decoded picture.
func encodeThumbnail(picture image.Image, orientation int) ([]byte, error) {
	small := upright(shrink(picture), orientation)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("encode thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// shrink scales a picture down to the size of a thumbnail, and puts transparent ones
// on white. Small pictures keep their size.
func shrink(picture image.Image) *image.RGBA {
	from := picture.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > thumbnailSide {
		width, height = max(1, width*thumbnailSide/longer), max(1, height*thumbnailSide/longer)
	}
	small := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(small, small.Bounds(), image.White, image.Point{}, draw.Src)
	draw.BiLinear.Scale(small, small.Bounds(), picture, from, draw.Over, nil)
	return small
}

// upright rotates and mirrors a picture according to its EXIF orientation.
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
			from := [...]image.Point{2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
				5: {y, x}, 6: {y, h - 1 - x}, 7: {w - 1 - y, h - 1 - x}, 8: {w - 1 - y, x}}[orientation]
			dst.SetRGBA(x, y, src.RGBAAt(from.X, from.Y))
		}
	}
	return dst
}

var errNoJPEG = errors.New("not a JPEG head")
