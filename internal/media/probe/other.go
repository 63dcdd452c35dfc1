package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// sniffMore recognises two formats that the library does not: Apple's CAF, and MPEG transport streams. The kind is
// empty for other files.
func sniffMore(r io.ReadSeeker) (Kind, error) {
	const packet = 188 // bytes of a transport stream (ISO/IEC 13818-1, 2.4.3.2), each beginning with 0x47
	head := make([]byte, 4*packet)
	n, err := io.ReadFull(r, head)
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("caff\x00\x01")):
		return Kind{MIMEType: "audio/x-caf", extension: ".caf"}, nil
	case n == 4*packet && head[0] == 0x47 && head[packet] == 0x47 && head[2*packet] == 0x47 && head[3*packet] == 0x47:
		return Kind{MIMEType: "video/mp2t", extension: ".ts"}, nil
	}
	return Kind{}, err
}

// The types of streams in ASF, which holds WMA and WMV (Advanced Systems Format, section 10.4).
var (
	asfAudio = []byte("\x40\x9e\x69\xf8\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b")
	asfVideo = []byte("\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b")
)

// readASF reports whether a file has pictures, by the streams in its header. It reads at most 64 KiB.
func readASF(r io.ReadSeeker) (*Movie, error) {
	header, err := io.ReadAll(io.LimitReader(r, 64<<10))
	if err != nil {
		return nil, err
	}
	if size := header[min(len(header), 16):]; len(size) >= 8 {
		header = header[:min(uint64(len(header)), binary.LittleEndian.Uint64(size))]
	}
	m := &Movie{HasVideo: bytes.Contains(header, asfVideo)}
	if !m.HasVideo && !bytes.Contains(header, asfAudio) {
		return nil, errors.New("no video or audio streams")
	}
	return m, nil
}

// oggVideos begin the first packets of videos in Ogg: Theora, OGM, Dirac and VP8.
var oggVideos = [][]byte{[]byte("\x80theora"), []byte("\x01video"), []byte("BBCD"), []byte("OVP80")}

// readOggVideo describes a file of Ogg with a video. All its streams begin before anything else (RFC 3533, section 4), in any order.
func readOggVideo(r io.ReadSeeker) (*Movie, error) {
	for range maxOggStreams {
		var header [27]byte
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(header[:], []byte("OggS")) || header[5]&beginsStream == 0 {
			break
		}
		lacing := make([]byte, header[26])
		if _, err := io.ReadFull(r, lacing); err != nil {
			return nil, err
		}
		size := 0
		for _, length := range lacing {
			size += int(length)
		}
		page := make([]byte, size) // at most 64 KiB
		if _, err := io.ReadFull(r, page); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(oggVideos, func(begin []byte) bool { return bytes.HasPrefix(page, begin) }) {
			return &Movie{HasVideo: true}, nil
		}
	}
	return nil, errors.New("no video")
}

const maxOggStreams = 16
