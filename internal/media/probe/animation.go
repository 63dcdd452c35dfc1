package probe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"golang.org/x/image/riff"
)

// IsAnimated reports whether a picture that can be read has more than one frame.
func IsAnimated(file io.ReadSeeker, sniffed string) bool {
	switch sniffed {
	case "image/apng":
		return true
	case "image/gif":
		animated, err := Guarded(file, hasSecondFrame)
		return err == nil && animated
	case WebpType:
		w, _ := Guarded(file, ReadWebP) // the first chunk is enough
		return w.Animated
	}
	return false
}

// hasSecondFrame walks the blocks of a GIF (GIF89a, appendix A). Anything else ends the file.
func hasSecondFrame(file io.ReadSeeker) (_ bool, err error) {
	r, buf := bufio.NewReader(file), make([]byte, 1<<10)
	next := func(n int) []byte { // zeros after an error
		if err == nil {
			_, err = io.ReadFull(r, buf[:n])
		}
		if err != nil {
			clear(buf)
		}
		return buf[:n]
	}
	next(gifColours(next(13)[10]))
	for frames := 0; ; {
		switch next(1)[0] {
		case '!': // an extension: its label, then sub-blocks
			next(1)
		case ',': // a picture: its descriptor, colours, the size of its codes, then sub-blocks
			if frames++; frames > 1 {
				return true, nil
			}
			next(gifColours(next(9)[8]) + 1)
		default:
			return false, err
		}
		for length := next(1)[0]; length > 0; length = next(1)[0] { // up to the empty one
			next(int(length))
		}
	}
}

// GIFSize returns the width and height of a GIF; zeros if it has no head.
func GIFSize(file io.ReadSeeker) (width, height int) {
	head := make([]byte, 10)
	_, err := Guarded(file, func(r io.ReadSeeker) (int, error) { return io.ReadFull(r, head) })
	if err != nil {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
}

// gifColours returns the size of the colour table that a descriptor's flags announce.
func gifColours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&0x07 + 1)
}

type webp struct {
	Width, Height int
	Animated      bool
	lossless      bool // has a picture of that kind
	alpha         bool // has a separate alpha channel
	shown         bool // has something to show
}

var errNoWebP = errors.New("not a whole WebP file")

// maxWebPChunks bounds the chunks of a file. An animation has one for each frame.
const maxWebPChunks = 10_000

// ReadWebP walks the chunks of a WebP file (RFC 9649), which must fill it. It decodes nothing.
func ReadWebP(r io.ReadSeeker) (w webp, err error) {
	form, chunks, err := riff.NewReader(r)
	if err != nil || form != (riff.FourCC{'W', 'E', 'B', 'P'}) {
		return w, errors.Join(errNoWebP, err)
	}
	for n := 0; ; n++ {
		name, length, data, err := chunks.Next()
		if err == io.EOF {
			break
		}
		if err != nil || n == maxWebPChunks {
			return w, errors.Join(errNoWebP, err)
		}
		payload := make([]byte, min(length, 24))
		if _, err := io.ReadFull(data, payload); err != nil {
			return w, err
		}
		if !w.take(string(name[:]), payload, n) {
			return w, errNoWebP
		}
	}
	if !w.shown || w.Width < 1 || w.Height < 1 {
		return w, errNoWebP
	}
	return w, nil
}

// take reads one chunk, and reports whether it is valid.
func (w *webp) take(name string, payload []byte, chunk int) bool {
	switch name {
	case "VP8X":
		if len(payload) < 10 || chunk != 0 {
			return false
		}
		w.Animated = payload[0]&0x02 != 0
		w.Width, w.Height = uint24(payload[4:])+1, uint24(payload[7:])+1
	case "VP8 ":
		if len(payload) < 10 || string(payload[3:6]) != "\x9d\x01\x2a" {
			return false
		}
		w.still(binary.LittleEndian.Uint16(payload[6:])&0x3FFF, binary.LittleEndian.Uint16(payload[8:])&0x3FFF)
	case "ALPH":
		w.alpha = true
	case "VP8L":
		w.lossless = true
		if len(payload) < 5 || payload[0] != 0x2F {
			return false
		}
		bits := binary.LittleEndian.Uint32(payload[1:])
		w.still(uint16(bits&0x3FFF)+1, uint16(bits>>14&0x3FFF)+1)
	case "ANMF": // which lies within the animation and begins with a picture
		if len(payload) < 24 || !slices.Contains([]string{"ALPH", "VP8 ", "VP8L"}, string(payload[16:20])) {
			return false
		}
		w.shown = w.shown || w.Animated
		return 2*uint24(payload)+uint24(payload[6:]) < w.Width && 2*uint24(payload[3:])+uint24(payload[9:]) < w.Height
	}
	return true
}

// still notes a still picture; its size counts unless an extended header has given one.
func (w *webp) still(width, height uint16) {
	w.shown = w.shown || !w.Animated
	if w.Width == 0 {
		w.Width, w.Height = int(width), int(height)
	}
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
