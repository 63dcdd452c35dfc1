package media

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// ogg describes an Ogg file with one stream of sound.
type ogg struct {
	isOpus  bool  // else it is Vorbis
	rate    int64 // of the granule positions; Opus always counts in 48000
	preskip int64 // what a player drops at the beginning
	last    int64 // the last granule position
	samples int64 // of all Opus packets together
}

func (o *ogg) seconds() float64 { return float64(o.last-o.preskip) / float64(o.rate) }

const opusRate = 48000

// packet holds the beginning of a packet, and its size.
type packet struct {
	head [32]byte
	size int
}

func (p *packet) start() []byte { return p.head[:min(p.size, len(p.head))] }

var (
	errNoOgg   = errors.New("not an Ogg stream of sound")
	errOggPage = errors.New("not an Ogg page")
)

// readOgg reads the first stream of an Ogg file, if it is Opus or Vorbis.
func readOgg(r io.ReadSeeker) (*ogg, error) {
	o := &ogg{}
	n := 0
	err := walkOgg(r, func(p *packet) error {
		if n++; n == 1 {
			return o.identify(p.start())
		}
		if o.isOpus && n > 2 { // the second packet has the tags
			o.samples += opusSamples(p.start())
		}
		return nil
	}, func(granule int64) { o.last = max(o.last, granule) })
	if n == 0 || errors.Is(err, errNoOgg) {
		return nil, errors.Join(errNoOgg, err)
	}
	return o, nil // a file that breaks off plays up to there
}

func (o *ogg) identify(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte("OpusHead")) && len(head) >= 19:
		o.isOpus, o.rate, o.preskip = true, opusRate, int64(binary.LittleEndian.Uint16(head[10:]))
		return nil
	case bytes.HasPrefix(head, []byte("\x01vorbis")) && len(head) >= 16:
		if o.rate = int64(binary.LittleEndian.Uint32(head[12:])); o.rate > 0 {
			return nil
		}
	}
	return errNoOgg
}

// walkOgg visits the packets of the first stream in a file, and the granule
// positions of its pages. It holds no more than a packet's head.
func walkOgg(src io.Reader, visit func(*packet) error, granule func(int64)) error {
	r := bufio.NewReaderSize(src, 64<<10)
	var serial uint32
	var p packet
	for first := true; ; first = false {
		var header [27]byte
		if _, err := io.ReadFull(r, header[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !bytes.HasPrefix(header[:], []byte("OggS")) {
			return errOggPage
		}
		lacing := make([]byte, header[26])
		if _, err := io.ReadFull(r, lacing); err != nil {
			return err
		}
		id := binary.LittleEndian.Uint32(header[14:])
		if first {
			serial = id
		}
		if id != serial {
			if err := skip(r, lacing); err != nil {
				return err
			}
			continue
		}
		if err := p.page(r, lacing, visit); err != nil {
			return err
		}
		if position := int64(binary.LittleEndian.Uint64(header[6:])); position >= 0 { // -1: no packet ends here
			granule(position)
		}
	}
}

// page reads the segments of a page. A segment of less than 255 bytes ends a packet.
func (p *packet) page(r *bufio.Reader, lacing []byte, visit func(*packet) error) error {
	for _, length := range lacing {
		kept := p.head[min(p.size, len(p.head)):]
		kept = kept[:min(len(kept), int(length))]
		if _, err := io.ReadFull(r, kept); err != nil {
			return err
		}
		if _, err := r.Discard(int(length) - len(kept)); err != nil {
			return err
		}
		if p.size += int(length); length == 255 {
			continue
		}
		if err := visit(p); err != nil {
			return err
		}
		p.size = 0
	}
	return nil
}

func skip(r *bufio.Reader, lacing []byte) error {
	total := 0
	for _, length := range lacing {
		total += int(length)
	}
	_, err := r.Discard(total)
	return err
}

// opusSamples returns how long an Opus packet plays, in samples of 48 kHz (RFC 6716,
// section 3.1).
func opusSamples(head []byte) int64 {
	if len(head) == 0 {
		return 0
	}
	frame := int64(0)
	switch config := head[0] >> 3; {
	case config < 12: // SILK: 10, 20, 40, 60 ms
		frame = [...]int64{480, 960, 1920, 2880}[config&3]
	case config < 16: // both: 10, 20 ms
		frame = [...]int64{480, 960}[config&1]
	default: // CELT: 2.5, 5, 10, 20 ms
		frame = [...]int64{120, 240, 480, 960}[config&3]
	}
	switch head[0] & 3 {
	case 0:
		return frame
	case 1, 2:
		return 2 * frame
	}
	if len(head) < 2 {
		return 0
	}
	return frame * int64(head[1]&0x3F)
}

const waveformBars = 64 // that the apps draw for a voice note

// waveform approximates the loudness of an Opus stream over time, from 0 to 100, without
// decoding it: at the variable bit rate of voice notes Opus spends many bytes on speech
// and hardly any on silence. A constant bit rate is drawn flat.
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
