package media

import (
	"errors"
	"io"
)

// waveformBars is the number of bars that the apps draw for a voice note.
const waveformBars = 64

// waveform approximates the loudness of an Opus stream over time, without decoding
// it. Voice notes are recorded with a variable bit rate, at which Opus spends many
// bytes on speech and hardly any on silence, so the bytes over time follow the sound.
// The quietest part is 0 and the loudest 100; a constant bit rate is drawn flat.
func waveform(r io.Reader, o *ogg) ([]byte, error) {
	if !o.isOpus || o.samples <= 0 {
		return nil, errors.New("no Opus packets to draw")
	}
	bars := barSums{bar: float64(o.samples) / waveformBars}
	n := 0
	err := walkOgg(r, func(p *packet) error {
		if n++; n > 2 { // behind the two headers
			bars.add(p.size, opusSamples(p.start()))
		}
		return nil
	}, func(int64) {})
	if err != nil {
		return nil, err
	}
	return bars.scaled(), nil
}

// barSums distributes the bytes of packets over the bars in which they play.
type barSums struct {
	bar   float64 // samples of a bar
	at    float64 // samples so far
	bytes [waveformBars]float64
}

func (b *barSums) add(size int, samples int64) {
	if samples == 0 {
		return
	}
	end := b.at + float64(samples)
	for i := int(b.at / b.bar); i < waveformBars && float64(i)*b.bar < end; i++ {
		overlap := min(end, float64(i+1)*b.bar) - max(b.at, float64(i)*b.bar)
		b.bytes[i] += float64(size) * overlap / float64(samples)
	}
	b.at = end
}

func (b *barSums) scaled() []byte {
	quietest, loudest := b.bytes[0], b.bytes[0]
	for _, v := range b.bytes {
		quietest, loudest = min(quietest, v), max(loudest, v)
	}
	values := make([]byte, waveformBars)
	spread := loudest - quietest
	for i, v := range b.bytes {
		// A spread of less than a tenth comes from cutting into bars, not from the sound.
		if values[i] = 50; spread > loudest/10 {
			values[i] = byte(100*(v-quietest)/spread + 0.5)
		}
	}
	return values
}
