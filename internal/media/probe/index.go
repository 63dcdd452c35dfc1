package probe

import (
	"bufio"
	"encoding/binary"
	"io"
)

// indexed is the part of a track that a file's index has, in ticks.
type indexed struct {
	scale       uint32 // ticks of a second
	first, last uint64
}

// indexSeconds returns the length of the longest track in the index (sidx); 0 without an index.
func (m *movieReader) indexSeconds() (longest float64) {
	for _, track := range m.indexed {
		if track.scale > 0 {
			longest = max(longest, float64(track.last-track.first)/float64(track.scale))
		}
	}
	return longest
}

// index reads an index of fragments (ISO/IEC 14496-12, 8.16.3). A file may have one for all fragments, one
// for each of them, or an index of indexes.
func (m *movieReader) index(at, end uint64) {
	head := make([]byte, 32)
	if end-at < 24 || m.readAt(head[:min(end-at, 32)], at) != nil {
		return
	}
	order := binary.BigEndian
	number, scale, first, rest := order.Uint32(head[4:]), order.Uint32(head[8:]), uint64(order.Uint32(head[12:])), uint64(20)
	if head[0] == 1 { // times of 64 bits
		first, rest = order.Uint64(head[12:]), 28
	}
	if end-at < rest+4 || len(m.indexed) >= maxTracks && m.indexed[number] == nil {
		return
	}
	entries, last := order.Uint16(head[rest+2:]), first
	if _, err := m.r.Seek(int64(at+rest+4), io.SeekStart); err != nil {
		return
	}
	from, entry := bufio.NewReader(io.LimitReader(m.r, int64(end-at-rest-4))), make([]byte, 12)
	for range entries {
		if _, err := io.ReadFull(from, entry); err != nil {
			return
		}
		last += uint64(order.Uint32(entry[4:]))
	}
	track := m.indexed[number]
	switch {
	case last < first: // more than 64 bits
	case track == nil:
		if m.indexed == nil {
			m.indexed = make(map[uint32]*indexed)
		}
		m.indexed[number] = &indexed{scale, first, last}
	default:
		track.first, track.last = min(track.first, first), max(track.last, last)
	}
}
