package media

import (
	"bufio"
	"errors"
	"io"
)

// isAnimated reports whether a picture has more than one frame. One that cannot be
// read is taken for a still.
func isAnimated(file io.ReadSeeker, sniffed string) bool {
	var animated bool
	err := guarded(file, func(r io.ReadSeeker) (err error) {
		switch sniffed {
		case "image/gif":
			animated, err = hasSecondFrame(bufio.NewReader(r))
		case "image/webp":
			animated, err = isAnimatedWebP(r)
		}
		return err
	})
	return err == nil && (animated || sniffed == "image/apng")
}

// isAnimatedWebP reads the flag of the extended format's header, the first chunk.
func isAnimatedWebP(r io.Reader) (bool, error) {
	var head [21]byte // RIFF, size, WEBP, the chunk's name and size, its flags
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return false, err
	}
	const animation = 0x02
	return string(head[12:16]) == "VP8X" && head[20]&animation != 0, nil
}

var errNoGIF = errors.New("not a GIF's block")

// hasSecondFrame walks the blocks of a GIF (GIF89a, appendix A) up to the second
// picture.
func hasSecondFrame(r *bufio.Reader) (bool, error) {
	var head [13]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return false, err
	}
	if err := skipColours(r, head[10]); err != nil {
		return false, err
	}
	for frames := 0; ; {
		kind, err := r.ReadByte()
		if err != nil {
			return false, err
		}
		switch kind {
		case ';': // the end
			return false, nil
		case '!': // an extension: its label, then sub-blocks
			_, err = r.Discard(1)
		case ',': // a picture: its descriptor, colours and the size of its codes
			if frames++; frames > 1 {
				return true, nil
			}
			var descriptor [9]byte
			if _, err = io.ReadFull(r, descriptor[:]); err == nil {
				err = skipColours(r, descriptor[8])
			}
			if err == nil {
				_, err = r.Discard(1)
			}
		default:
			return false, errNoGIF
		}
		if err == nil {
			err = skipSubBlocks(r)
		}
		if err != nil {
			return false, err
		}
	}
}

// skipColours skips the colour table that a descriptor's flags announce.
func skipColours(r *bufio.Reader, flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	_, err := r.Discard(3 << (flags&0x07 + 1))
	return err
}

// skipSubBlocks skips blocks, each with its length in front, up to the empty one.
func skipSubBlocks(r *bufio.Reader) error {
	for {
		length, err := r.ReadByte()
		if err != nil || length == 0 {
			return err
		}
		if _, err := r.Discard(int(length)); err != nil {
			return err
		}
	}
}
