package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// jpegHead describes a JPEG by what precedes its picture.
type jpegHead struct {
	orientation int  // of EXIF, 1 to 8; 1 is upright
	progressive bool // decoding takes a lot more memory
}

// isSideways reports whether the picture is shown with width and height swapped.
func (h jpegHead) isSideways() bool { return h.orientation > 4 }

// readJPEGHead reads the segments up to the frame header.
func readJPEGHead(src io.Reader) (jpegHead, error) {
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
// SOI and EOI (ITU T.81, table B.1). None has anything to do in a head, and decoders
// differ in what they make of them.
func hasNoLength(marker byte) bool {
	return marker == 0xFF || marker <= 0x01 || marker >= 0xD0 && marker <= 0xD9
}

// exifOrientation returns the orientation in an APP1 segment: the tag 0x0112 of the
// first directory. Anything unexpected counts as upright.
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
