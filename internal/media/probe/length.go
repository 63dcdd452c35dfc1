package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"bridged/internal/bridge"
)

// Guarded runs a probe from the beginning of the file, and turns a panic into an error.
func Guarded[T any](file io.ReadSeeker, probe func(io.ReadSeeker) (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("probe panicked: %v", r)
		}
	}()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return result, err
	}
	return probe(file)
}

// WholeSeconds rounds a duration as the apps show it: to one second at least.
func WholeSeconds(seconds float64) int {
	const longest = 100 * 24 * 3600       // a longer one is a wrong header
	if seconds > 0 && seconds < longest { // neither is true of NaN
		return max(1, int(seconds+0.5))
	}
	return 0
}

// LengthOf measures how long the file of a message plays. If that cannot be measured, it returns the
// length that the sender claims, at least a second.
func LengthOf(file io.ReadSeeker, m bridge.Message) time.Duration {
	if length := Length(file); length > 0 {
		return length
	}
	return max(time.Duration(m.Media.DurationSec)*time.Second, time.Second)
}

// Length measures how long an audio file or a video plays; 0 if that is unknown. A voice note plays
// as long as its packets, whatever its pages say.
func Length(file io.ReadSeeker) time.Duration {
	k, err := Sniff(file)
	if err != nil {
		return 0
	}
	seconds := k.Seconds(file)
	if k.Ogg != nil && k.Ogg.IsOpus {
		seconds = float64(k.Ogg.samples) / opusRate
	}
	return time.Duration(WholeSeconds(seconds)) * time.Second
}

// Seconds returns how long a file plays according to its headers; 0 if they do not say.
func (k Kind) Seconds(file io.ReadSeeker) (seconds float64) {
	switch {
	case k.Movie != nil:
		return k.Movie.Seconds
	case k.Ogg != nil:
		return k.Ogg.seconds()
	case k.MIMEType == "audio/flac":
		seconds, _ = Guarded(file, flacSeconds)
	case k.MIMEType == "audio/wav":
		seconds, _ = Guarded(file, wavSeconds)
	case k.MIMEType == "audio/mpeg", k.MIMEType == bridge.UnknownMIMEType: // there may be other bytes before its first frame
		seconds, _ = Guarded(file, MP3Seconds)
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

// wavSeconds returns the length of a RIFF file in seconds. It reads the first chunk, "fmt ", and treats the rest of the
// file as audio.
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
