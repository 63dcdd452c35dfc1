package media

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"bridged/internal/bridge"
)

// measure fills in dimensions, duration, thumbnail and waveform, as far as they can
// be determined.
func (p *Preparer) measure(ctx context.Context, f *bridge.File, file *os.File, kind kind) {
	switch f.Type {
	case bridge.MediaImage:
		p.attempt(ctx, "image", file, func(r io.ReadSeeker) error { return p.measureImage(f, r) })
	case bridge.MediaVideo:
		if kind.movie != nil {
			f.Width, f.Height, f.Seconds = kind.movie.width, kind.movie.height, wholeSeconds(kind.movie.seconds)
		}
	case bridge.MediaAudio:
		p.attempt(ctx, "audio", file, func(r io.ReadSeeker) error { return measureAudio(f, r, kind) })
	}
}

// attempt runs a measurement from the beginning of the file. Its failure does not
// stop the send, not even the panic of a decoder over a strange file.
func (p *Preparer) attempt(ctx context.Context, what string, file io.ReadSeeker, probe func(io.ReadSeeker) error) {
	if ctx.Err() != nil {
		return
	}
	if err := guarded(file, probe); err != nil {
		p.log.Debug().Err(err).Str("probe", what).Msg("media not measured")
	}
}

// guarded runs a probe from the beginning of the file, and turns a panic into an
// error.
func guarded(file io.ReadSeeker, probe func(io.ReadSeeker) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("probe panicked: %v", r)
		}
	}()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return probe(file)
}

func measureAudio(f *bridge.File, r io.ReadSeeker, kind kind) (err error) {
	var seconds float64
	switch {
	case kind.movie != nil:
		seconds = kind.movie.seconds
	case kind.ogg != nil:
		seconds = kind.ogg.seconds()
		if f.PTT {
			f.Waveform, err = waveform(r, kind.ogg)
		}
	case strings.HasPrefix(kind.sniffed, "audio/mpeg"), kind.mime == "audio/mpeg":
		seconds, err = mp3Seconds(r)
	}
	f.Seconds = wholeSeconds(seconds)
	return err
}

// wholeSeconds rounds a duration as the apps show it: to one second at least.
func wholeSeconds(seconds float64) int {
	const longest = 100 * 24 * 3600       // a longer one is a wrong header
	if seconds > 0 && seconds < longest { // neither is true of NaN
		return max(1, int(seconds+0.5))
	}
	return 0
}
