package transcode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"
)

const (
	bars = 64 // that the apps draw for a voice note
	// maxPieces bounds the memory for audio of any length.
	maxPieces   = 4096
	firstPieces = 40 // samples: 5 ms
)

// loudness measures audio that is written to it, in samples of 16 bits.
type loudness struct {
	pieces []float64 // how loud they are on average
	per    int       // samples of a piece
	sum    float64   // of the piece that is not complete
	n      int
	half   []byte // of a sample
	heard  int64  // bytes
	stop   func() // ends ffmpeg after [MaxLength]
}

// rate counts the samples of a second.
const rate = 8000

func (l *loudness) isTooLong() bool { return l.heard > 2*rate*int64(MaxLength/time.Second) }

// Write implements io.Writer.
func (l *loudness) Write(p []byte) (int, error) {
	written := len(p)
	if l.heard += int64(written); l.isTooLong() {
		l.stop()
		return 0, errors.New("the audio is too long")
	}
	if len(l.half) > 0 && len(p) > 0 {
		l.add([]byte{l.half[0], p[0]})
		l.half, p = nil, p[1:]
	}
	for ; len(p) >= 2; p = p[2:] {
		l.add(p)
	}
	l.half = append(l.half, p...)
	return written, nil
}

func (l *loudness) add(sample []byte) {
	if l.per == 0 {
		l.per = firstPieces
	}
	value := float64(int16(binary.LittleEndian.Uint16(sample)))
	l.sum += max(value, -value)
	if l.n++; l.n < l.per {
		return
	}
	l.pieces = append(l.pieces, l.sum/float64(l.per))
	l.sum, l.n = 0, 0
	if len(l.pieces) == maxPieces {
		for i := range maxPieces / 2 {
			l.pieces[i] = (l.pieces[2*i] + l.pieces[2*i+1]) / 2
		}
		l.pieces, l.per = l.pieces[:maxPieces/2], 2*l.per
	}
}

// length returns how long the audio plays.
func (l *loudness) length() time.Duration { return time.Duration(l.heard/2) * time.Second / rate }

func (l *loudness) isEmpty() bool { return len(l.pieces) == 0 && l.n == 0 }

// Flat returns the waveform of a voice note whose loudness is unknown.
func Flat() []byte { return bytes.Repeat([]byte{50}, bars) }

// bars returns the waveform: the loudest bar has 100.
func (l *loudness) bars() []byte {
	var heights [bars]float64
	for i := range heights {
		from := i * len(l.pieces) / bars
		to := max(from+1, (i+1)*len(l.pieces)/bars)
		for _, piece := range l.pieces[from:min(to, len(l.pieces))] {
			heights[i] += piece / float64(to-from)
		}
	}
	values := make([]byte, bars)
	if loudest := slices.Max(heights[:]); loudest > 0 {
		for i, height := range heights {
			values[i] = byte(100*height/loudest + 0.5)
		}
	}
	return values
}
