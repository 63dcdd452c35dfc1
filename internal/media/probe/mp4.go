package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

type Movie struct {
	Seconds       float64 // 0 where unknown
	Width, Height int     // as shown, after rotation
	HasVideo      bool
	codings       []string // of video and audio; "" for codecs other than the constants
}

// The codings that need another container at most.
const (
	codingH264 = "avc1" // of eight bits
	CodingAAC  = "mp4a"
	CodingOpus = "Opus" // in Matroska and WebM
)

// Plays reports whether all apps play the video: H.264 of eight bits, with AAC or without audio.
func (m *Movie) Plays() bool {
	return slices.Contains(m.codings, codingH264) && m.hasOnly(codingH264, CodingAAC)
}

// IsAudioOf reports whether a file has only audio, of one coding.
func (m *Movie) IsAudioOf(coding string) bool {
	return !m.HasVideo && len(m.codings) > 0 && m.hasOnly(coding)
}

func (m *Movie) hasOnly(codings ...string) bool {
	return !slices.ContainsFunc(m.codings, func(coding string) bool { return !slices.Contains(codings, coding) })
}

const (
	maxBoxes = 100_000 // of a file; fragmented ones have many
	maxDepth = 6       // moov, trak, mdia, minf, stbl, and its boxes
)

// movieReader walks the boxes of a file (ISO/IEC 14496-12), whose sizes and counts may be lies.
type movieReader struct {
	r     io.ReadSeeker
	boxes int
	Movie
	timescale uint32
	duration  uint64
	fragments uint64
	track     Movie  // the one being read
	number    uint32 // of that
	handler   string // of that: "vide", "soun" or another
	found     bool
	// The length of files in fragments.
	tracks    map[uint32]*fragmented
	current   *fragmented // of the fragment being read; may be nil
	perSample uint32      // ticks, in that fragment
	lengthErr error
	indexed   map[uint32]*indexed // by their number
}

func readMovie(r io.ReadSeeker) (*Movie, error) {
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
		m.Seconds = float64(m.duration) / float64(m.timescale)
	}
	counted := m.fragmentSeconds()
	if m.lengthErr != nil || counted == 0 {
		counted = m.indexSeconds()
	}
	m.Seconds = max(m.Seconds, counted)
	return &m.Movie, nil
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
	case "moov", "mdia", "mvex", "moof", "traf":
		return m.walk(at, end, depth+1)
	case "mdhd", "trex", "tfhd", "trun":
		// The kind of the file does not depend on its length.
		if err := m.fragment(name, at, end); err != nil {
			m.lengthErr = err
		}
	case "sidx":
		m.index(at, end) // what it cannot read is not counted
	case "minf", "stbl":
		if m.walk(at, end, depth+1) != nil { // which the rest does not depend on
			m.track.codings = append(m.track.codings, "")
		}
	case "trak":
		m.track, m.handler = Movie{}, ""
		err := m.walk(at, end, depth+1)
		if m.track.HasVideo && !m.HasVideo {
			m.HasVideo, m.Width, m.Height = true, m.track.Width, m.track.Height
		}
		m.codings = append(m.codings, m.track.codings...)
		return err
	case "stsd":
		payload := make([]byte, min(end-at, 1024))
		if err := m.readAt(payload, at); err != nil {
			return err
		}
		if m.handler == "vide" || m.handler == "soun" {
			m.track.codings = append(m.track.codings, coding(payload))
		}
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
		m.number = order.Uint32(b[12:])
		if isLong {
			m.number = order.Uint32(b[20:])
			b = b[12:]
		}
		matrix := b[40:]
		m.track.Width, m.track.Height = int(order.Uint16(b[76:])), int(order.Uint16(b[80:])) // of 16.16 bits
		if order.Uint32(matrix) == 0 && order.Uint32(matrix[4:]) != 0 {                      // turned by 90 or 270 degrees
			m.track.Width, m.track.Height = m.track.Height, m.track.Width
		}
	case "hdlr":
		if m.handler == "" { // later ones are of parts of the track
			m.handler = string(b[8:12])
			m.track.HasVideo = m.handler == "vide"
		}
	}
	return nil
}

// h264Profiles are Baseline, Main and High.
var h264Profiles = []byte{66, 77, 100}

// coding returns the coding that a description of samples names, if all apps have it: H.264 in a
// profile of h264Profiles, or AAC.
func coding(description []byte) string {
	if len(description) < 16 {
		return ""
	}
	entry := description[8:]
	name := string(entry[4:8])
	_, config, _ := bytes.Cut(entry, []byte(map[string]string{codingH264: "avcC", CodingAAC: "esds"}[name]))
	switch {
	case name == codingH264 && len(config) > 1 && slices.Contains(h264Profiles, config[1]):
		return name
	case name == CodingAAC && len(config) > 4:
		const aac = 0x40
		if stream := descriptor(config[4:], 3); len(stream) > 3 && bytes.HasPrefix(descriptor(stream[3:], 4), []byte{aac}) {
			return name
		}
	}
	return ""
}

// descriptor returns what follows the head of a descriptor with a tag (ISO/IEC 14496-1, 8.3.3).
func descriptor(b []byte, tag byte) []byte {
	if len(b) == 0 || b[0] != tag {
		return nil
	}
	for i, size := range b[1:] {
		if size&0x80 == 0 {
			return b[i+2:]
		}
	}
	return nil
}
