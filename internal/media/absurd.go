package media

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/transcode"
)

// Small files can make much work: hours of silence, pictures with a thousand passes. Their heads
// say so, and they are refused before anything is decoded.

const (
	// maxConverted limits the pixels of a video that is converted: 4096 by 2304, more than 4K.
	maxConverted = 4096 * 2304
	// maxScans limits the passes of a JPEG. Encoders write 13 at most (mozjpeg); the decoder goes
	// through the whole picture in each of them.
	maxScans = 64
)

// mayConvert refuses a file that plays for too long or is too large to be converted, as far as
// its head says.
func (k kind) mayConvert(file io.ReadSeeker) error {
	seconds := k.playsFor(file)
	if seconds > transcode.MaxLength.Seconds() {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the file plays for %v, and at most %v can be converted: send a shorter one",
			time.Duration(min(seconds, 1e9))*time.Second, transcode.MaxLength)
	}
	if m := k.movie; m != nil && m.hasVideo && float64(m.width)*float64(m.height) > maxConverted {
		return bridge.Fail(bridge.CodeUnsupportedMedia, "the video has %d by %d pixels, too many to convert: scale it to at most 4096 by 2304", m.width, m.height)
	}
	return nil
}

// playsFor returns how many seconds a file plays by its head; 0 if that says nothing.
func (k kind) playsFor(file io.ReadSeeker) (seconds float64) {
	switch {
	case k.movie != nil:
		return k.movie.seconds
	case k.ogg != nil:
		return k.ogg.seconds()
	case k.sniffed == "audio/flac":
		seconds, _ = guarded(file, flacSeconds)
	case k.sniffed == "audio/wav":
		seconds, _ = guarded(file, wavSeconds)
	case k.sniffed == "audio/mpeg":
		seconds, _ = guarded(file, mp3Seconds)
	}
	return seconds // 0 after an error
}

var errNoHead = errors.New("not the head of this format")

// flacSeconds reads the first block of a FLAC file, STREAMINFO (RFC 9639, section 8.2).
func flacSeconds(r io.ReadSeeker) (float64, error) {
	var head [26]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	if string(head[:4]) != "fLaC" || head[4]&0x7F != 0 {
		return 0, errNoHead
	}
	packed := binary.BigEndian.Uint64(head[18:]) // 20 bits of rate, 3 of channels, 5 of depth, 36 of length
	if packed>>44 == 0 {
		return 0, errNoHead
	}
	return float64(packed&(1<<36-1)) / float64(packed>>44), nil
}

// wavSeconds reads the chunk "fmt " of a RIFF file, which is the first, and takes the rest of the
// file for sound.
func wavSeconds(r io.ReadSeeker) (float64, error) {
	var head [32]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	perSecond := binary.LittleEndian.Uint32(head[28:])
	if string(head[:4]) != "RIFF" || string(head[12:16]) != "fmt " || perSecond == 0 {
		return 0, errNoHead
	}
	return float64(size) / float64(perSecond), nil
}

var errManyScans = errors.New("the picture has too many passes")

// checkScans fails with errManyScans for a JPEG with more than [maxScans]. It reads up to them.
func checkScans(src io.ReadSeeker) (struct{}, error) {
	r := bufio.NewReader(src)
	for scans := 0; ; {
		marker, err := nextMarker(r)
		switch {
		case errors.Is(err, io.EOF), marker == 0xD9:
			return struct{}{}, nil // the decoder finds out what is missing
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
