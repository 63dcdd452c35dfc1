package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"bridged/internal/fuzzbudget"
)

// Looking into a container costs a small multiple of its bytes, whatever they claim.
func FuzzContainer(f *testing.F) {
	for _, name := range []string{"fragmented.mp4", "fragmented.m4a", "clip.webm", "sound.mka", "video.mov", "sound.wma", "video.ogv", "vorbis.ogg", "sound.caf", "video.ts"} {
		file, err := os.ReadFile(filepath.Join("..", "testdata", "formats", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	f.Add([]byte("\x1aE\xdf\xa3\x80\x18S\x80g\x01\xff\xff\xff\xff\xff\xff\xff\x16T\xaek\x01\xff\xff\xff\xff\xff\xff\xff\xae\x01\xff\xff\xff\xff\xff\xff\xff"))
	f.Add(append([]byte("OggS\x00\x02"), bytes.Repeat([]byte{0xFF}, 300)...))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzbudget.Usual.Check(t, len(content), func() {
			k, err := Sniff(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			if k.IsVideo() && k.AudioType() != "" {
				t.Errorf("a video (%s) is a sound (%s)", k.MIMEType, k.AudioType())
			}
		})
	})
}
