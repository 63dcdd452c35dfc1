package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
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
	thumbnailSide    = 100 // the longer one; the apps show it blurred until the picture is loaded
	thumbnailQuality = 60
)

// measureImage reads a picture's dimensions, and makes its thumbnail if decoding is affordable.
func (p *Preparer) measureImage(f *bridge.File, r io.ReadSeeker) error {
	p.decoding.Lock()
	defer p.decoding.Unlock()
	picture, head, err := decodeBounded(r)
	f.Width, f.Height = head.Width, head.Height
	if head.orientation > 4 { // on its side
		f.Width, f.Height = f.Height, f.Width
	}
	if err != nil {
		return err
	}
	f.Thumbnail, err = encodeThumbnail(picture, head.orientation)
	return err
}

func encodeThumbnail(picture image.Image, orientation int) ([]byte, error) {
	small := upright(shrink(picture), orientation)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("encode thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// shrink scales a picture down to a thumbnail, on white. Small ones keep their size.
func shrink(picture image.Image) *image.RGBA {
	small := image.NewRGBA(within(picture, thumbnailSide))
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

var errNoJPEG = errors.New("not a JPEG head")

// jpegHead describes a JPEG by what precedes its picture.
type jpegHead struct {
	orientation int  // of EXIF, 1 to 8; 1 is upright
	progressive bool // decoding takes a lot more memory
}

// readJPEGHead reads the segments up to the frame header.
func readJPEGHead(src io.ReadSeeker) (jpegHead, error) {
	head := jpegHead{orientation: 1}
	r := bufio.NewReader(src)
	if start, err := r.Peek(2); err != nil || start[0] != 0xFF || start[1] != 0xD8 {
		return head, errNoJPEG
	}
	_, _ = r.Discard(2) // they were just peeked at
	for {
		var segment [4]byte // marker and length
		if _, err := io.ReadFull(r, segment[:]); err != nil {
			return head, err
		}
		marker, length := segment[1], int(binary.BigEndian.Uint16(segment[2:]))-2
		if segment[0] != 0xFF || length < 0 || hasNoLength(marker) {
			return head, errNoJPEG
		}
		switch {
		case marker == 0xE1 && head.orientation == 1:
			data := make([]byte, length)
			if _, err := io.ReadFull(r, data); err != nil {
				return head, err
			}
			head.orientation = exifOrientation(data)
			continue
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			head.progressive = marker == 0xC2
			return head, nil
		}
		if _, err := r.Discard(length); err != nil {
			return head, err
		}
	}
}

// hasNoLength reports whether a marker is followed by no length: fill bytes, TEM, RST,
// SOI and EOI (ITU T.81, table B.1). Decoders differ in how they read them in a head.
func hasNoLength(marker byte) bool {
	return marker == 0xFF || marker <= 0x01 || marker >= 0xD0 && marker <= 0xD9
}

// exifOrientation returns the tag 0x0112 of the first directory in an APP1 segment. Anything
// unexpected counts as upright.
func exifOrientation(b []byte) int {
	b, isExif := bytes.CutPrefix(b, []byte("Exif\x00\x00"))
	if !isExif || len(b) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if b[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 1
	}
	entries := b[at+2:]
	for range order.Uint16(b[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			break
		}
		entries = entries[12:]
	}
	return 1
}
