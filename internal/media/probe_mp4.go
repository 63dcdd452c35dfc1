package media

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

type movie struct {
	seconds       float64 // 0 where unknown
	width, height int     // as shown, after rotation
	hasVideo      bool
}

const (
	maxBoxes = 100_000 // of a file; fragmented ones have many
	maxDepth = 4       // moov, trak, mdia, and what is in it
)

// movieReader walks the boxes of a file (ISO/IEC 14496-12), whose sizes and counts may be lies.
type movieReader struct {
	r     io.ReadSeeker
	boxes int
	movie
	timescale uint32
	duration  uint64
	fragments uint64
	track     movie // the one being read
	found     bool
}

func readMovie(r io.ReadSeeker) (*movie, error) {
	end, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	m := movieReader{r: r}
	err = m.walk(0, uint64(end), 0)
	if !m.found {
		return nil, errors.Join(errors.New("no movie header"), err)
	}
	// A file that breaks off after its header is still described by it.
	if m.duration == 0 || m.duration == 1<<32-1 {
		m.duration = m.fragments
	}
	if m.timescale > 0 {
		m.seconds = float64(m.duration) / float64(m.timescale)
	}
	return &m.movie, nil
}

func (m *movieReader) walk(at, end uint64, depth int) error {
	for at+8 <= end {
		if m.boxes++; m.boxes > maxBoxes || depth > maxDepth {
			return errors.New("too many boxes")
		}
		var head [16]byte
		if err := m.readAt(head[:8], at); err != nil {
			return err
		}
		size, payload := uint64(binary.BigEndian.Uint32(head[:])), at+8
		switch size {
		case 0: // up to the end
			size = end - at
		case 1: // a size of 64 bits follows
			if err := m.readAt(head[8:], at+8); err != nil {
				return err
			}
			size, payload = binary.BigEndian.Uint64(head[8:]), at+16
		}
		name := string(head[4:8])
		if size > end-at || at+size < payload {
			return fmt.Errorf("box %q of %d bytes does not fit", name, size)
		}
		if err := m.read(name, payload, at+size, depth); err != nil {
			return err
		}
		at += size
	}
	return nil
}

func (m *movieReader) readAt(b []byte, at uint64) error {
	if _, err := m.r.Seek(int64(at), io.SeekStart); err != nil {
		return err
	}
	_, err := io.ReadFull(m.r, b)
	return err
}

func (m *movieReader) read(name string, at, end uint64, depth int) error {
	switch name {
	case "moov", "mdia", "mvex":
		return m.walk(at, end, depth+1)
	case "trak":
		m.track = movie{}
		err := m.walk(at, end, depth+1)
		if m.track.hasVideo && !m.hasVideo {
			m.hasVideo, m.width, m.height = true, m.track.width, m.track.height
		}
		return err
	case "mvhd", "mehd", "tkhd", "hdlr":
		payload := make([]byte, min(end-at, 96))
		if err := m.readAt(payload, at); err != nil {
			return err
		}
		return m.header(name, payload)
	}
	return nil
}

// header reads a box that describes the file or a track. In version 1 times have 64 bits.
func (m *movieReader) header(name string, b []byte) error {
	isLong := len(b) > 0 && b[0] == 1
	least := map[string][2]int{"mvhd": {20, 32}, "mehd": {8, 12}, "tkhd": {84, 96}, "hdlr": {12, 12}}[name]
	if len(b) < least[0] || b[0] > 1 || isLong && len(b) < least[1] {
		return fmt.Errorf("box %s of %d bytes in version %x", name, len(b), b[:min(len(b), 1)])
	}
	order := binary.BigEndian
	switch name {
	case "mvhd":
		m.found, m.timescale, m.duration = true, order.Uint32(b[12:]), uint64(order.Uint32(b[16:]))
		if isLong {
			m.timescale, m.duration = order.Uint32(b[20:]), order.Uint64(b[24:])
		}
	case "mehd":
		m.fragments = uint64(order.Uint32(b[4:]))
		if isLong {
			m.fragments = order.Uint64(b[4:])
		}
	case "tkhd":
		if isLong {
			b = b[12:]
		}
		matrix := b[40:]
		m.track.width, m.track.height = int(order.Uint16(b[76:])), int(order.Uint16(b[80:])) // of 16.16 bits
		if order.Uint32(matrix) == 0 && order.Uint32(matrix[4:]) != 0 {                      // turned by 90 or 270 degrees
			m.track.width, m.track.height = m.track.height, m.track.width
		}
	case "hdlr":
		m.track.hasVideo = m.track.hasVideo || string(b[8:12]) == "vide"
	}
	return nil
}
