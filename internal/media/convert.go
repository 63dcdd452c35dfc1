package media

import (
	"bufio"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"os"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
)

const (
	jpegQuality = 90 // of converted pictures; the apps' own is lower
)

// convert replaces a picture with the JPEG that is sent instead, in the same file, and
// describes it. One picture is in memory at a time, of at most maxDecoded bytes.
func (p *Preparer) convert(ctx context.Context, f *bridge.File, file *os.File, sniffed string) error {
	if probe.IsAnimated(file, sniffed) {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is an animated picture, which does not move as an image: send it as a document, or as an MP4 video")
	}
	done, err := p.decoding.Acquire(ctx)
	defer done()
	if err != nil {
		return err
	}
	picture, err := probe.Guarded(file, probe.Decode)
	if err != nil {
		return notConvertible(sniffed, err)
	}
	picture = onWhite(picture)
	if f.Thumbnail, err = encodeThumbnail(picture, 1); err != nil {
		return err
	}
	size := picture.Bounds().Size()
	f.Width, f.Height = size.X, size.Y
	if f.Size, err = p.overwrite(file, func(w io.Writer) error {
		return jpeg.Encode(w, picture, &jpeg.Options{Quality: jpegQuality})
	}); err != nil {
		return disk.Failed(err)
	}
	if f.Size > p.opts.MaxBytes {
		return notConvertible(sniffed, probe.TooLarge{Size: size})
	}
	return nil
}

// overwrite replaces the content of a file, and returns its size.
func (p *Preparer) overwrite(file *os.File, write func(io.Writer) error) (int64, error) {
	if err := file.Truncate(0); err != nil {
		return 0, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(p.opts.Room.Writer(file), 64<<10)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return 0, err
	}
	return file.Seek(0, io.SeekCurrent)
}

func notConvertible(sniffed string, cause error) error {
	if large, ok := errors.AsType[probe.TooLarge](cause); ok {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the picture has %d by %d pixels, too many to convert %s to JPEG: scale it down, send a JPEG, or send it as a document",
			large.Size.X, large.Size.Y, sniffed).Because(cause)
	}
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s that cannot be decoded, so it cannot be shown as an image: check it, or send it as a document", sniffed).Because(cause)
}

// onWhite returns a picture without transparency, on a white ground. It changes the picture itself if
// it can, because a copy would take as much memory again.
func onWhite(picture image.Image) image.Image {
	switch m := picture.(type) {
	case *image.NRGBA:
		return flatten(m)
	case *image.Paletted:
		for i, c := range m.Palette {
			m.Palette[i] = white(c)
		}
		return m
	case interface{ Opaque() bool }:
		if m.Opaque() {
			return picture
		}
	}
	return whitened{picture}
}

// flatten puts a picture on white in place. Without transparency its pixels are those
// of an [image.RGBA], which is encoded fastest.
func flatten(m *image.NRGBA) *image.RGBA {
	for i := 0; i+3 < len(m.Pix); i += 4 {
		pixel := m.Pix[i : i+4 : i+4]
		alpha := uint32(pixel[3])
		if alpha == 0xFF {
			continue
		}
		for c := range 3 {
			pixel[c] = uint8((uint32(pixel[c])*alpha + 0xFF*(0xFF-alpha) + 0x7F) / 0xFF)
		}
		pixel[3] = 0xFF
	}
	return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
}

type whitened struct{ image.Image }

// At implements [image.Image].
func (w whitened) At(x, y int) color.Color { return white(w.Image.At(x, y)) }

func white(c color.Color) color.Color {
	r, g, b, a := c.RGBA() // multiplied by a already
	rest := 0xFFFF - a
	return color.RGBA{R: uint8((r + rest) >> 8), G: uint8((g + rest) >> 8), B: uint8((b + rest) >> 8), A: 0xFF}
}
