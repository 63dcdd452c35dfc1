package probe

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// IDs of the elements of Matroska and WebM that are read (RFC 9559, section 5.1).
const (
	segmentID   = 0x18538067
	clusterID   = 0x1F43B675
	infoID      = 0x1549A966
	scaleID     = 0x2AD7B1
	durationID  = 0x4489
	tracksID    = 0x1654AE6B
	trackID     = 0xAE
	trackTypeID = 0x83
	codecID     = 0x86
	privateID   = 0x63A2
	videoID     = 0xE0
	widthID     = 0xB0
	heightID    = 0xBA
)

// matroskaReader walks the elements of a file, whose sizes may be wrong, up to its first cluster.
type matroskaReader struct {
	movieReader // for its file, limits and movie
	duration    float64
	scale       float64 // nanoseconds
	kind        uint64  // of the track: 1 for video, 2 for audio
	codec       string
	profile     byte // of the track's H.264
}

var errFirstCluster = errors.New("the description ends")

// readMatroska describes a file of Matroska or WebM. A recording that a browser makes has no duration.
func readMatroska(r io.ReadSeeker) (*Movie, error) {
	end, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	m := matroskaReader{movieReader: movieReader{r: r}, scale: 1e6}
	err = m.walk(0, uint64(end), 0)
	if !m.found {
		return nil, errors.Join(errors.New("no tracks"), err)
	}
	m.Seconds = m.duration * m.scale / 1e9
	return &m.Movie, nil
}

func (m *matroskaReader) walk(at, end uint64, depth int) error {
	for at < end {
		if m.boxes++; m.boxes > maxBoxes || depth > maxDepth {
			return errors.New("too many elements")
		}
		id, payload, err := m.number(at, true)
		if err != nil {
			return err
		}
		size, payload, err := m.number(payload, false)
		if err != nil {
			return err
		}
		if size > end-min(payload, end) { // unknown, as in a live recording, or the file breaks off
			size = end - min(payload, end)
		}
		if err := m.element(id, payload, payload+size, depth); err != nil {
			return err
		}
		at = payload + size
	}
	return nil
}

// number reads an ID with its marker, or a size without, of one to eight bytes (RFC 8794, section 4). A size of
// nothing but ones is unknown, and larger than any file.
func (m *matroskaReader) number(at uint64, isID bool) (value, next uint64, err error) {
	var b [8]byte
	if err := m.readAt(b[:1], at); err != nil {
		return 0, 0, err
	}
	length := bits.LeadingZeros8(b[0]) + 1
	if length > 8 {
		return 0, 0, errors.New("a number of more than eight bytes")
	}
	if err := m.readAt(b[:length], at); err != nil {
		return 0, 0, err
	}
	value = binary.BigEndian.Uint64(b[:]) >> (64 - 8*length)
	if marker := uint64(1) << (7 * length); !isID {
		if value ^= marker; value == marker-1 {
			value = math.MaxUint64
		}
	}
	return value, at + uint64(length), nil
}

func (m *matroskaReader) element(id, at, end uint64, depth int) error {
	switch id {
	case segmentID, infoID, videoID:
		return m.walk(at, end, depth+1)
	case tracksID:
		m.found = true
		return m.walk(at, end, depth+1)
	case trackID:
		m.track, m.kind, m.codec, m.profile = Movie{}, 0, "", 0
		err := m.walk(at, end, depth+1)
		m.endTrack()
		return err
	case clusterID:
		return errFirstCluster
	case scaleID, durationID, trackTypeID, codecID, privateID, widthID, heightID:
		value := make([]byte, min(end-at, 64))
		if err := m.readAt(value, at); err != nil {
			return err
		}
		m.value(id, value)
	}
	return nil
}

func (m *matroskaReader) value(id uint64, b []byte) {
	var number uint64
	for _, digit := range b[:min(len(b), 8)] {
		number = number<<8 | uint64(digit)
	}
	switch id {
	case scaleID:
		m.scale = float64(number)
	case durationID:
		m.duration = math.Float64frombits(number)
		if len(b) == 4 {
			m.duration = float64(math.Float32frombits(uint32(number)))
		}
	case trackTypeID:
		m.kind = number
	case codecID:
		m.codec = strings.TrimRight(string(b), "\x00")
	case privateID:
		if len(b) > 1 {
			m.profile = b[1]
		}
	case widthID:
		m.track.Width = int(min(number, 1<<16))
	case heightID:
		m.track.Height = int(min(number, 1<<16))
	}
}

// endTrack adds a track to the movie.
func (m *matroskaReader) endTrack() {
	coding := ""
	switch {
	case m.codec == "V_MPEG4/ISO/AVC" && slices.Contains(h264Profiles, m.profile):
		coding = codingH264
	case m.codec == "A_AAC", strings.HasPrefix(m.codec, "A_AAC/"):
		coding = CodingAAC
	case m.codec == "A_OPUS":
		coding = CodingOpus
	}
	switch m.kind {
	case 1:
		if !m.HasVideo {
			m.HasVideo, m.Width, m.Height = true, m.track.Width, m.track.Height
		}
		m.codings = append(m.codings, coding)
	case 2:
		m.codings = append(m.codings, coding)
	}
}
