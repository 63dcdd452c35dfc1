package media

import (
	"bufio"
	"errors"
	"io"
)

// maxResync limits the bytes that are skipped in search of the next frame, not
// counting the tag at the beginning.
const maxResync = 64 << 10

var errNoMP3 = errors.New("no MP3 frames")

// mp3Seconds returns the duration of an MP3 file. It adds up all frames: the summary
// that encoders write at the beginning is often missing or wrong.
func mp3Seconds(src io.ReadSeeker) (float64, error) {
	r := bufio.NewReaderSize(src, 64<<10)
	if err := skipID3(r); err != nil {
		return 0, err
	}
	seconds, frames, skipped := 0.0, 0, 0
	for {
		head, err := r.Peek(4)
		if err != nil { // the end, or too short for a frame
			break
		}
		f, ok := parseMP3(head)
		if ok && frames == 0 {
			ok = followed(r, f)
		}
		if !ok {
			if skipped++; skipped > maxResync {
				break
			}
			_, _ = r.Discard(1) // it was just peeked at
			continue
		}
		seconds += f.seconds
		frames++
		skipped = 0
		if _, err := r.Discard(f.size); err != nil {
			break
		}
	}
	if frames == 0 {
		return 0, errNoMP3
	}
	return seconds, nil
}

// skipID3 skips the tag at the beginning, which may hold a cover picture.
func skipID3(r *bufio.Reader) error {
	head, err := r.Peek(10)
	if err != nil || string(head[:3]) != "ID3" {
		return nil //nolint:nilerr // a file too short for a tag has none
	}
	size := int(head[6]&0x7F)<<21 | int(head[7]&0x7F)<<14 | int(head[8]&0x7F)<<7 | int(head[9]&0x7F)
	_, err = r.Discard(size + 10)
	return err
}

// followed reports whether the first frame is followed by another. Four bytes that
// look like a frame's head occur in any data, two heads at the right distance do not.
func followed(r *bufio.Reader, f mp3Frame) bool {
	ahead, err := r.Peek(f.size + 4)
	if err != nil {
		return len(ahead) == f.size // the only frame
	}
	_, ok := parseMP3(ahead[f.size:])
	return ok
}

type mp3Frame struct {
	size    int
	seconds float64
}

// Layer III in kbit/s, of MPEG 1 and of MPEG 2 and 2.5; Hz of MPEG 1.
var (
	mp3Rates  = [2][16]int{{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}, {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}
	mp3Clocks = [4]int{44100, 48000, 32000}
)

func parseMP3(b []byte) (mp3Frame, bool) {
	version, layer := b[1]>>3&3, b[1]>>1&3
	if b[0] != 0xFF || b[1]&0xE0 != 0xE0 || version == 1 || layer != 1 {
		return mp3Frame{}, false
	}
	older, samples := 0, 1152
	clock := mp3Clocks[b[2]>>2&3]
	if version != 3 { // MPEG 2 halves the clock, 2.5 quarters it
		older, samples, clock = 1, 576, clock/2
	}
	if version == 0 {
		clock /= 2
	}
	rate := mp3Rates[older][b[2]>>4] * 1000
	if rate == 0 || clock == 0 {
		return mp3Frame{}, false
	}
	size := samples / 8 * rate / clock
	if b[2]&2 != 0 {
		size++
	}
	return mp3Frame{size: size, seconds: float64(samples) / float64(clock)}, true
}
