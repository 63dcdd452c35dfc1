package files

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

// lies are what messages say wrongly of files whose encrypted bytes are as announced:
// some pictures of albums and groups come so.
var lies = map[string]func(*bridge.Media){
	"other hash":     func(m *bridge.Media) { m.Ref.FileSHA256 = bytes.Repeat([]byte{1}, sha256.Size) },
	"no hash":        func(m *bridge.Media) { m.Ref.FileSHA256 = nil },
	"larger":         func(m *bridge.Media) { m.Size++ },
	"much smaller":   func(m *bridge.Media) { m.Size = 1 },
	"much larger":    func(m *bridge.Media) { m.Size = 4 << 20 },
	"all of it":      func(m *bridge.Media) { m.Size, m.Ref.FileSHA256 = 7, bytes.Repeat([]byte{1}, sha256.Size) },
	"encrypted hash": func(m *bridge.Media) { m.Ref.FileEncSHA256 = nil },
}

// wantFile compares size and hash with the bytes.
func TestDownload_TakesSizeAndHashFromTheBytes(t *testing.T) {
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			c, fake := newTestCache(t, 1<<30)
			plain := mediatest.RandomBytes(3*chunk + 5)
			m := fake.Send(bridge.MediaImage, plain)
			lie(m.Media)
			wantFile(t, c, m, plain)
			c.Close()
			again := openTestCache(t, c.lru.dir, 1<<30, fake)
			before := fake.Downloads()
			wantFile(t, again, m, plain)
			if n, kept := fake.Downloads()-before, len(m.Media.Ref.FileEncSHA256) > 0; (n == 0) != kept {
				t.Errorf("%d downloads after a restart", n)
			}
		})
	}
}

func TestDownload_WarnsOfWrongClaims(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	var log bytes.Buffer
	c.opts.Log = zerolog.New(&log)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	wantFile(t, c, m, []byte("hello"))
	if bytes.Contains(log.Bytes(), []byte(`"warn"`)) {
		t.Errorf("warned of the truth: %s", log.Bytes())
	}
	other := fake.Send(bridge.MediaImage, []byte("other"))
	lies["all of it"](other.Media)
	wantFile(t, c, other, []byte("other"))
	for _, want := range []string{`"claimed":7,"message":"media has another size than its message says"`, `"message":"media has another hash than its message says"`} {
		if !bytes.Contains(log.Bytes(), []byte(want)) {
			t.Errorf("no warning %s in %s", want, log.Bytes())
		}
	}
}

// A file that is larger than its message says takes the room of the largest, so
// that no claim can exceed the bound on the disk.
func TestAdmission_WrongSizesTakeTheRoomOfTheLargest(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	plain := mediatest.RandomBytes(3 * chunk)
	m := fake.Send(bridge.MediaImage, plain)
	m.Media.Size = 1
	var reserved []int64
	fake.Serve(func(http.ResponseWriter, *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		reserved = append(reserved, c.reserved)
	})
	wantFile(t, c, m, plain)
	if len(reserved) != 2 || reserved[0] != cdn.EncryptedSize(1) || reserved[1] != cdn.EncryptedSize(c.opts.MaxFile) {
		t.Errorf("reserved %v", reserved)
	}
	waitFor(t, c, func() bool { return c.reserved == 0 && c.running == 0 })
}

// Two files without the hash of their encrypted bytes are two files, even if all
// that their messages say is the same but the place: a member of a group who knows
// a file's key cannot put another file in its stead.
func TestCache_FilesWithoutAHashAreNotShared(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("honest"))
	m.Media.Ref.FileEncSHA256 = nil
	forged := *m.Media
	forged.Ref.DirectPath = "/v/forged.enc"
	fake.Keep("/v/forged.enc", mediatest.PlainEncrypt(t, []byte("forged"), mediatest.Infos[bridge.MediaImage], m.Media.Ref.MediaKey))
	liar := m
	liar.Media = &forged
	wantFile(t, c, liar, []byte("forged"))
	held := open(t, c, liar)
	wantFile(t, c, m, []byte("honest"))
	mediatest.WantOnly(t, c.lru.dir, 1)
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	mediatest.WantOnly(t, c.lru.dir, 0) // what could not be found again to forget is not kept
}
