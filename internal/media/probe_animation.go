package media

import (
	"bufio"
	"io"
)

// isAnimated reports whether a picture has more than one frame. One that cannot be
// read is taken for a still.
func isAnimated(file io.ReadSeeker, sniffed string) bool {
	switch sniffed {
	case "image/apng":
		return true
	case "image/gif":
		animated, err := guarded(file, hasSecondFrame)
		return err == nil && animated
	case webpType:
		w, _ := guarded(file, readWebP) // the first chunk is enough
		return w.animated
	}
	return false
}

// hasSecondFrame walks the blocks of a GIF (GIF89a, appendix A) up to the second
// picture. What is no block ends the file.
func hasSecondFrame(file io.ReadSeeker) (bool, error) {
	r := bufio.NewReader(file)
	var head [13]byte
	_, err := io.ReadFull(r, head[:])
	if err == nil {
		_, err = r.Discard(gifColours(head[10]))
	}
	for frames := 0; err == nil; {
		var kind byte
		if kind, err = r.ReadByte(); err != nil {
			break
		}
		switch kind {
		case '!': // an extension: its label, then sub-blocks
			_, err = r.Discard(1)
		case ',': // a picture: its descriptor, colours, the size of its codes, then sub-blocks
			if frames++; frames > 1 {
				return true, nil
			}
			if _, err = io.ReadFull(r, head[:9]); err == nil {
				_, err = r.Discard(gifColours(head[8]) + 1)
			}
		default:
			return false, nil
		}
		for length := byte(1); err == nil && length > 0; { // sub-blocks, up to the empty one
			if length, err = r.ReadByte(); err == nil {
				_, err = r.Discard(int(length))
			}
		}
	}
	return false, err
}

// gifColours returns the size of the colour table that a descriptor's flags announce.
func gifColours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&0x07 + 1)
}
