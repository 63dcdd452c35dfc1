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

// start returns the beginning of the packet, all of it if it is short.
func (p *packet) start() []byte { return p.head[:min(p.size, len(p.head))] }

var (
	errNoOgg   = errors.New("not an Ogg stream of sound")
	errOggPage = errors.New("not an Ogg page")
)

// readOgg reads the first stream of an Ogg file, if it is Opus or Vorbis.
func readOgg(r io.Reader) (*ogg, error) {
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

// identify reads the codec's header, which is the first packet.
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
