package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// scansOf returns a progressive JPEG with so many passes over its first component, each of
// which says with some bytes that nothing is in it (ITU T.81, G.1.2.2: runs of 2^14 blocks).
func scansOf(width, height, scans int) []byte {
	file := bytes.TrimSuffix(jpegOf(width, height, 3, true, 1), []byte{0xFF, 0xD9})
	table := append([]byte{0xFF, 0xC4, 0, 20, 0x10, 1}, make([]byte, 15)...)
	file = append(append(file, table...), 0xE0)
	runs := (width+7)/8*((height+7)/8)/(1<<14) + 1
	scan := append([]byte{0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0}, make([]byte, runs*15/8+1)...)
	return append(append(file, bytes.Repeat(scan, scans)...), 0xFF, 0xD9)
}

// A JPEG with a thousand passes is refused before it is decoded; one with as many as encoders
// write is not.
func TestPictureCost_ManyScans(t *testing.T) {
	many := scansOf(3000, 3000, 1000)
	began := time.Now()
	if _, _, err := decodeBounded(bytes.NewReader(many), maxDecoding); !errors.Is(err, errManyScans) {
		t.Errorf("%d KB: %v", len(many)>>10, err)
	}
	t.Logf("%d KB refused after %v", len(many)>>10, time.Since(began))
	for _, scans := range []int{0, 20, maxScans - 1} {
		file := scansOf(300, 200, scans)
		if _, _, err := image.Decode(bytes.NewReader(file)); err != nil {
			t.Fatalf("the test's picture: %v", err)
		}
		if _, _, err := decodeBounded(bytes.NewReader(file), maxDecoding); err != nil {
			t.Errorf("%d passes: %v", scans, err)
		}
	}
}

// However many expensive pictures a token tree sends, BRIDGE_TOKEN's is decoded next.
func TestPictures_TokenTreesTakeTurns(t *testing.T) {
	p := newStickers(t)
	release, err := p.decoding.Acquire(bridge.WithTree(t.Context(), 7))
	if err != nil {
		t.Fatal(err)
	}
	order := make(chan int64, 4)
	scale := func(tree int64) {
		if _, err := p.Scale(bridge.WithTree(t.Context(), tree), jpegOf(100, 100, 3, false, 1), 10); err != nil {
			t.Error(err)
		}
		order <- tree
	}
	for range 3 {
		go scale(7)
	}
	next := make(chan struct{})
	go func() {
		defer close(next)
		release, err := p.decoding.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		if len(order) > 0 {
			t.Errorf("%d of a token tree were decoded before BRIDGE_TOKEN's", len(order))
		}
		release()
	}()
	for p.decoding.Waiting(intake.Operator) == 0 || p.decoding.Waiting(7) < 3 {
		time.Sleep(time.Millisecond)
	}
	release()
	<-next
	for range 3 {
		<-order
	}
}

// What plays for hours, or has too many pixels, by its head is not given to ffmpeg.
func TestConvert_AbsurdHeadsAreRefused(t *testing.T) {
	flac := append([]byte("fLaC\x00\x00\x00\x22"), make([]byte, 34)...)
	binary.BigEndian.PutUint64(flac[18:], 8000<<44|7<<36|8000*11*3600)
	wav := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x08\x00data"), make([]byte, 8000)...)
	for name, c := range map[string]struct {
		k    kind
		file []byte
		says string
	}{
		"eleven hours of FLAC": {kind{sniffed: "audio/flac"}, flac, "11h0m0s"},
		"hours of WAV":         {kind{sniffed: "audio/wav"}, wav, "2h14m"},
		"a long film":          {kind{movie: &movie{seconds: 1e300}}, nil, "at most 2h"},
		"a film of 8K":         {kind{movie: &movie{seconds: 1, width: 7680, height: 4320, hasVideo: true}}, nil, "7680 by 4320"},
	} {
		err := c.k.mayConvert(bytes.NewReader(c.file))
		if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, k := range map[string]kind{"cut off": {sniffed: "audio/flac"}, "a film of 4K": {movie: &movie{seconds: 60, width: 3840, height: 2160, hasVideo: true}}} {
		if err := k.mayConvert(bytes.NewReader(flac[:20])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
