package media

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // so that image.Decode knows the formats
	"image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"time"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp"

	"bridged/internal/bridge"
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
	picture, head, err := decodeBounded(r, maxDecoding)
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

// Scale returns a picture as an upright JPEG whose longer side is at most so many pixels.
// It fails with [bridge.CodeUnsupportedMedia], or with that of ctx, whose deadline holds.
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
	most := maxDecoding
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline))
	}
	small, err := guarded(bytes.NewReader(file), func(r io.ReadSeeker) ([]byte, error) {
		picture, head, err := decodeBounded(r, most)
		if err != nil {
			return nil, err
		}
		return encodeSmall(coarse(picture), head.orientation, side, smallQuality)
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

// GroupPicture returns the middle of a picture as the square, upright JPEG that the network takes
// for a group. It fails with [bridge.CodeInvalid] and [bridge.CodeUnsupportedMedia].
func (p *Preparer) GroupPicture(ctx context.Context, f *Received) ([]byte, error) {
	if f.size == 0 {
		return nil, bridge.Invalid("the picture is empty")
	}
	done, err := p.decoding.Acquire(ctx)
	defer done()
	if err != nil {
		return nil, err
	}
	square, err := guarded(f.file, func(r io.ReadSeeker) ([]byte, error) {
		picture, head, err := decodeBounded(r, maxDecoding)
		if err != nil {
			return nil, err
		}
		return encodeSquare(picture, head.orientation)
	})
	if large, ok := errors.AsType[tooLarge](err); ok {
		return nil, bridge.Fail(bridge.CodeUnsupportedMedia, "the picture has %d by %d pixels, too many to convert: scale it down to %d by %d",
			large.size.X, large.size.Y, groupSide, groupSide).Because(err)
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

var errNoJPEG = errors.New("not a JPEG head")

// jpegHead describes a JPEG by what precedes its picture.
type jpegHead struct {
	orientation int  // of EXIF, 1 to 8; 1 is upright
	progressive bool // decoding takes a lot more memory, and goes through all of it for each scan
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
		if _, err = guarded(r, checkScans); err != nil {
			return head, err
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

// pngCost returns the bytes of a pixel: eight where a grey of 16 bits has a transparent one.
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

// webpCost returns the bytes of a pixel. What is lossless, as transparency usually is, has
// four, up to twice, beside the smaller pictures of its transforms.
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

func decodeInTime(r io.Reader, within time.Duration) (image.Image, error) {
	picture, _, err := image.Decode(timed{r, time.Now().Add(within)})
	if err != nil {
		return nil, fmt.Errorf("decode picture: %w", err)
	}
	return picture, nil
}
