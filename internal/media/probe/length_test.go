package probe

import (
	"bytes"
	"testing"
	"time"

	"bridged/internal/media/mediatest"
)

// index returns an index of fragments with these lengths, from a time on, in ticks.
func index(scale, from uint32, ticks ...uint32) []byte {
	words := []uint32{0, 1, scale, from, 0, uint32(len(ticks))}
	for _, length := range ticks {
		words = append(words, 500, length, 0x90000000)
	}
	return mediatest.Box("sidx", mediatest.Words(words...))
}

func TestLength_IsMeasured(t *testing.T) {
	opus := mediatest.Opus(mediatest.Repeat(20, 150)...)
	lying := bytes.Clone(opus)
	for at := bytes.Index(lying, []byte("OggS")); at >= 0; {
		copy(lying[at+6:], []byte{0, 0, 0, 0, 0, 1, 0, 0}) // a granule position of months
		next := bytes.Index(lying[at+4:], []byte("OggS"))
		if next < 0 {
			break
		}
		at += 4 + next
	}
	for name, test := range map[string]struct {
		file []byte
		want time.Duration
	}{
		"a voice note":       {opus, 3 * time.Second},
		"with false pages":   {lying, 3 * time.Second},
		"Vorbis":             {mediatest.Vorbis(44100, 10*44100), 10 * time.Second},
		"MP3":                {mediatest.MP3(100), 3 * time.Second},
		"MP4":                {mediatest.MP4("isom", 7000, mediatest.Track{}), 7 * time.Second},
		"an index":           {append(mediatest.MP4("isom", 0, mediatest.Track{}), index(1000, 0, 2000, 3000)...), 5 * time.Second},
		"indexes":            {append(append(mediatest.MP4("isom", 0, mediatest.Track{}), index(1000, 9000, 2000)...), index(1000, 11000, 3000)...), 5 * time.Second},
		"an index cut off":   {append(mediatest.MP4("isom", 0, mediatest.Track{}), mediatest.Box("sidx", mediatest.Words(0, 1, 1000, 0, 0, 9, 0, 1))...), 0},
		"half an index":      {append(mediatest.MP4("isom", 0, mediatest.Track{}), mediatest.Box("sidx", mediatest.Words(0, 1))...), 0},
		"what is no sound":   {[]byte("words"), 0},
		"nothing":            {nil, 0},
		"a broken beginning": {opus[:30], 0},
	} {
		if got := Length(bytes.NewReader(test.file)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
