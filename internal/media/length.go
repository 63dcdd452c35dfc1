package media

import (
	"io"
	"time"

	"bridged/internal/bridge"
)

// LengthOf measures how long the file of a message plays. What cannot be measured is as long as its
// sender says, at least a second.
func LengthOf(file io.ReadSeeker, m bridge.Message) time.Duration {
	if length := Length(file); length > 0 {
		return length
	}
	return max(time.Duration(m.Media.DurationSec)*time.Second, time.Second)
}

// Length measures how long a sound or a video plays; 0 where that is not known. A voice note is
// as long as what a decoder makes of it, whatever its pages or its sender say.
func Length(file io.ReadSeeker) time.Duration {
	kind, err := sniff(file)
	if err != nil {
		return 0
	}
	seconds := 0.0
	switch {
	case kind.ogg != nil && kind.ogg.isOpus:
		seconds = float64(kind.ogg.samples) / opusRate
	case kind.ogg != nil:
		seconds = kind.ogg.seconds()
	case kind.movie != nil:
		seconds = kind.movie.seconds
	default:
		seconds, _ = guarded(file, mp3Seconds) // of a file of another format there are none
	}
	return time.Duration(wholeSeconds(seconds)) * time.Second
}
