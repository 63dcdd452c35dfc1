package probe

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// fragmented is the length of a track in fragments, as browsers and live streams record it.
type fragmented struct {
	scale uint32 // ticks of a second
	usual uint32 // ticks of a sample, if its fragment does not say it
	ticks uint64 // of the samples so far
}

// Flags of fragments (ISO/IEC 14496-12, 8.8.7 and 8.8.8).
const (
	hasOffset       = 0x000001
	hasDescription  = 0x000002
	hasUsual        = 0x000008
	hasFirstFlags   = 0x000004
	hasSampleLength = 0x000100
	hasSampleSize   = 0x000200
	hasSampleFlags  = 0x000400
	hasSampleShift  = 0x000800
)

// maxTracks bounds the tracks whose length is counted.
const maxTracks = 64

// of returns a track by its number; nil if there are too many.
func (m *movieReader) of(number uint32) *fragmented {
	track := m.tracks[number]
	if track == nil && len(m.tracks) < maxTracks {
		if m.tracks == nil {
			m.tracks = make(map[uint32]*fragmented)
		}
		track = new(fragmented)
		m.tracks[number] = track
	}
	return track
}

// fragmentSeconds returns the length of the longest track in fragments; 0 without fragments.
func (m *movieReader) fragmentSeconds() (longest float64) {
	for _, track := range m.tracks {
		if track.scale > 0 {
			longest = max(longest, float64(track.ticks)/float64(track.scale))
		}
	}
	return longest
}

// fragment reads a box of a fragment, or one that fragments refer to.
func (m *movieReader) fragment(name string, at, end uint64) error {
	b := make([]byte, min(end-at, 32))
	if err := m.readAt(b, at); err != nil {
		return err
	}
	if len(b) < 8 {
		return fmt.Errorf("box %s of %d bytes", name, len(b))
	}
	order, flags := binary.BigEndian, binary.BigEndian.Uint32(b)&0xFFFFFF
	switch name {
	case "mdhd":
		at := 12
		if b[0] == 1 { // times of 64 bits
			at = 20
		}
		if track := m.of(m.number); track != nil && len(b) >= at+4 {
			track.scale = order.Uint32(b[at:])
		}
	case "trex":
		if track := m.of(order.Uint32(b[4:])); track != nil && len(b) >= 16 {
			track.usual = order.Uint32(b[12:])
		}
	case "tfhd":
		m.current = m.of(order.Uint32(b[4:]))
		skip := 8
		if flags&hasOffset != 0 {
			skip += 8
		}
		if flags&hasDescription != 0 {
			skip += 4
		}
		if m.perSample = 0; m.current != nil {
			m.perSample = m.current.usual
		}
		if flags&hasUsual != 0 && len(b) >= skip+4 {
			m.perSample = order.Uint32(b[skip:])
		}
	case "trun":
		return m.run(flags, order.Uint32(b[4:]), at+8, end)
	}
	return nil
}

// run adds the samples of a run to the track of its fragment.
func (m *movieReader) run(flags, samples uint32, at, end uint64) error {
	switch {
	case m.current == nil:
		return nil
	case flags&hasSampleLength == 0:
		m.current.ticks += uint64(samples) * uint64(m.perSample)
		return nil
	}
	for _, optional := range []uint32{hasOffset, hasFirstFlags} {
		if flags&optional != 0 {
			at += 4
		}
	}
	entry := 0
	for _, field := range []uint32{hasSampleLength, hasSampleSize, hasSampleFlags, hasSampleShift} {
		if flags&field != 0 {
			entry += 4
		}
	}
	if at > end || uint64(samples) > (end-at)/uint64(entry) {
		return fmt.Errorf("a run of %d samples does not fit", samples)
	}
	if _, err := m.r.Seek(int64(at), io.SeekStart); err != nil {
		return err
	}
	from, sample := bufio.NewReader(io.LimitReader(m.r, int64(end-at))), make([]byte, entry)
	for range samples {
		if _, err := io.ReadFull(from, sample); err != nil {
			return err
		}
		m.current.ticks += uint64(binary.BigEndian.Uint32(sample)) // its length comes first
	}
	return nil
}
