package probe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// maxScans limits the passes of a JPEG. Encoders write 13 at most (mozjpeg); the decoder goes
// through the whole picture in each of them.
const maxScans = 64

var errNoJPEG = errors.New("not a JPEG head")

// jpegHead describes a JPEG by what precedes its picture.
type jpegHead struct {
	Orientation int  // of EXIF, 1 to 8; 1 is upright
	progressive bool // decoding takes a lot more memory, and goes through all of it for each scan
}

// readJPEGHead reads the segments up to the frame header.
func readJPEGHead(src io.ReadSeeker) (jpegHead, error) {
	head := jpegHead{Orientation: 1}
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
		case marker == 0xE1 && head.Orientation == 1:
			data := make([]byte, length)
			if _, err := io.ReadFull(r, data); err != nil {
				return head, err
			}
			head.Orientation = exifOrientation(data)
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

var errManyScans = errors.New("the picture has too many passes")

// checkScans fails with errManyScans for a JPEG with more than [maxScans]. It reads up to them.
func checkScans(src io.ReadSeeker) (struct{}, error) {
	r := bufio.NewReader(src)
	for scans := 0; ; {
		marker, err := nextMarker(r)
		switch {
		case errors.Is(err, io.EOF), marker == 0xD9:
			return struct{}{}, nil // the decoder reports the missing part
		case err != nil:
			return struct{}{}, err
		case hasNoLength(marker):
			continue
		case marker == 0xDA:
			if scans++; scans > maxScans {
				return struct{}{}, errManyScans
			}
		}
		length, err := r.Peek(2)
		if err == nil {
			_, err = r.Discard(max(2, int(binary.BigEndian.Uint16(length))))
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return struct{}{}, err
		}
	}
}

// nextMarker skips to the next marker of a JPEG (ITU T.81, B.1.1): 0xFF and neither a zero, which
// belongs to the picture, nor another one.
func nextMarker(r *bufio.Reader) (byte, error) {
	for isMarker := false; ; {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if isMarker && b != 0 && b != 0xFF {
			return b, nil
		}
		isMarker = b == 0xFF
	}
}
