package probe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// ogg describes an Ogg file with one audio stream, or several of a kind one after the other
// (RFC 3533, section 4: chained).
type ogg struct {
	IsOpus  bool  // else it is Vorbis
	rate    int64 // of the granule positions; Opus always counts in 48000
	preskip int64 // samples that a player skips at the beginning
	last    int64 // the last granule position
	earlier int64 // how long the streams before the last one play
	samples int64 // of all Opus packets together
}

func (o *ogg) seconds() float64 { return float64(o.earlier+o.last-o.preskip) / float64(o.rate) }

const opusRate = 48000

// packet holds the beginning of a packet, its size and its place among the others.
type packet struct {
	head [32]byte
	size int
	n    int
}

func (p *packet) start() []byte { return p.head[:min(p.size, len(p.head))] }

var (
	errNoOgg   = errors.New("not an Ogg file with an audio stream")
	errOggPage = errors.New("not an Ogg page")
)

// readOgg reads the first stream of an Ogg file, if it is Opus or Vorbis, and the streams after it.
func readOgg(r io.ReadSeeker) (*ogg, error) {
	o := &ogg{}
	err := walkOgg(r, func(p *packet) error {
		if p.n == 0 {
			return o.identify(p.start())
		}
		if o.IsOpus && p.n > 1 { // the second packet has the tags
			o.samples += opusSamples(p.start())
		}
		return nil
	}, func(granule int64) { o.last = max(o.last, granule) })
	if o.rate == 0 {
		return nil, errors.Join(errNoOgg, err)
	}
	return o, nil // a file that breaks off plays up to there
}

// identify reads the head of a stream. One that follows another is of the same kind.
func (o *ogg) identify(head []byte) error {
	next := ogg{earlier: o.earlier + o.last - o.preskip, samples: o.samples}
	switch {
	case bytes.HasPrefix(head, []byte("OpusHead")) && len(head) >= 19:
		next.IsOpus, next.rate, next.preskip = true, opusRate, int64(binary.LittleEndian.Uint16(head[10:]))
	case bytes.HasPrefix(head, []byte("\x01vorbis")) && len(head) >= 16:
		next.rate = int64(binary.LittleEndian.Uint32(head[12:]))
	}
	if next.rate <= 0 || o.rate > 0 && (next.IsOpus != o.IsOpus || next.rate != o.rate) {
		return errNoOgg
	}
	*o = next
	return nil
}

// beginsStream marks the first page of a stream (RFC 3533, section 6).
const beginsStream = 2

// walkOgg visits the packets of a file's first stream and of the streams after it, each counted from
// 0, and the granule positions of their pages.
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
		if first || p.n > 1 && header[5]&beginsStream != 0 {
			serial, p = id, packet{}
		}
		if id != serial { // another stream's page
			if err := new(packet).page(r, lacing, func(*packet) error { return nil }); err != nil {
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
		p.n++
	}
	return nil
}

// opusSamples returns how long an Opus packet plays, at 48 kHz (RFC 6716, section 3.1).
func opusSamples(head []byte) int64 {
	if len(head) == 0 {
		return 0
	}
	config := head[0] >> 3
	frame := [...]int64{120, 240, 480, 960}[config&3] // CELT: 2.5, 5, 10, 20 ms
	if config < 12 {
		frame = [...]int64{480, 960, 1920, 2880}[config&3] // SILK: 10, 20, 40, 60 ms
	} else if config < 16 {
		frame = [...]int64{480, 960}[config&1] // both: 10, 20 ms
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

// maxResync limits the bytes that are skipped in search of the next frame.
const maxResync = 64 << 10

var errNoMP3 = errors.New("no MP3 frames")

// mp3Seconds adds up all frames: the summary at the beginning is often missing or wrong.
func MP3Seconds(src io.ReadSeeker) (float64, error) {
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

// followed reports whether the first frame is followed by another: what looks like a single
// frame occurs in any data.
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
