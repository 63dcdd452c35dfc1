package media

import (
	"errors"
	"fmt"
	"io"

	"github.com/abema/go-mp4"
)

// movie describes an MP4 file by its head.
type movie struct {
	seconds       float64 // 0 where unknown
	width, height int     // as shown, after rotation
	hasVideo      bool
}

const (
	maxBoxes   = 100_000 // of a file; fragmented ones have many
	maxBoxSize = 64 << 10
	maxDepth   = 4 // moov, trak, mdia, and what is in it
)

// movieReader walks the boxes itself and uses the library for single ones: the
// library's own walk and probe trust the sizes and counts in the file, so that a few
// bytes can make them allocate gigabytes or loop.
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

// walk reads the boxes between two offsets in the file.
func (m *movieReader) walk(at, end uint64, depth int) error {
	for at+mp4.SmallHeaderSize <= end {
		if m.boxes++; m.boxes > maxBoxes || depth > maxDepth {
			return errors.New("too many boxes")
		}
		if _, err := m.r.Seek(int64(at), io.SeekStart); err != nil {
			return err
		}
		box, err := mp4.ReadBoxInfo(m.r)
		if err != nil {
			return err
		}
		if box.Size < box.HeaderSize || box.Size > end-at {
			return fmt.Errorf("box %s of %d bytes does not fit", box.Type, box.Size)
		}
		if err := m.read(box, depth); err != nil {
			return err
		}
		at += box.Size
	}
	return nil
}

func (m *movieReader) read(box *mp4.BoxInfo, depth int) error {
	switch box.Type {
	case mp4.BoxTypeMoov(), mp4.BoxTypeMdia(), mp4.BoxTypeMvex():
		return m.children(box, depth)
	case mp4.BoxTypeTrak():
		m.track = movie{}
		err := m.children(box, depth)
		if m.track.hasVideo && !m.hasVideo {
			m.hasVideo, m.width, m.height = true, m.track.width, m.track.height
		}
		return err
	case mp4.BoxTypeMvhd(), mp4.BoxTypeMehd(), mp4.BoxTypeTkhd(), mp4.BoxTypeHdlr():
		return m.header(box)
	}
	return nil
}

func (m *movieReader) children(box *mp4.BoxInfo, depth int) error {
	return m.walk(box.Offset+box.HeaderSize, box.Offset+box.Size, depth+1)
}

func (m *movieReader) header(box *mp4.BoxInfo) error {
	if box.Size > maxBoxSize {
		return fmt.Errorf("box %s of %d bytes", box.Type, box.Size)
	}
	if _, err := box.SeekToPayload(m.r); err != nil {
		return err
	}
	payload, _, err := mp4.UnmarshalAny(m.r, box.Type, box.Size-box.HeaderSize, mp4.Context{})
	if err != nil {
		return err
	}
	switch b := payload.(type) {
	case *mp4.Mvhd:
		m.found, m.timescale, m.duration = true, b.Timescale, b.GetDuration()
	case *mp4.Mehd:
		m.fragments = b.GetFragmentDuration()
	case *mp4.Tkhd:
		m.track.width, m.track.height = int(b.Width>>16), int(b.Height>>16)
		if b.Matrix[0] == 0 && b.Matrix[1] != 0 { // turned by 90 or 270 degrees
			m.track.width, m.track.height = m.track.height, m.track.width
		}
	case *mp4.Hdlr:
		m.track.hasVideo = m.track.hasVideo || string(b.HandlerType[:]) == "vide"
	}
	return nil
}
