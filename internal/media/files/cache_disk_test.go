package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

func TestCache_SurvivesARestart(t *testing.T) {
	const size = 1000
	c, fake := newTestCache(t, 10*size)
	var messages []bridge.Message
	for i := range 3 {
		m := fake.Send(bridge.MediaImage, mediatest.RandomBytes(size + i)[:size])
		messages = append(messages, m)
		wantFile(t, c, m, mediatest.RandomBytes(size + i)[:size])
		// Files are used more than a clock tick apart in life.
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		if err := os.Chtimes(keptAt(t, c, m), at, at); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	for name, content := range map[string]string{"partial-123": "half", "notes.txt": "somebody's", strings.Repeat("z", 64): "no name of ours"} {
		if err := os.WriteFile(filepath.Join(c.lru.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(c.lru.dir, strings.Repeat("a", 64)), 0o700); err != nil {
		t.Fatal(err)
	}

	again := openTestCache(t, c.lru.dir, 2*size, fake) // smaller than before
	mediatest.WantOnly(t, c.lru.dir, 2+3)              // the partial file and the oldest are gone, the others' stay
	before := fake.Downloads()
	for i := 1; i < 3; i++ {
		wantFile(t, again, messages[i], mediatest.RandomBytes(size + i)[:size])
	}
	if n := fake.Downloads() - before; n != 0 {
		t.Errorf("%d downloads of what an earlier process had", n)
	}
}

func TestCache_DoesNotTrustTheDisk(t *testing.T) {
	plain := mediatest.RandomBytes(5000)
	for name, harm := range map[string]func(t *testing.T, path string){
		"same size": func(t *testing.T, path string) { mediatest.Write(t, path, mediatest.RandomBytes(5001)[:5000]) },
		"empty":     func(t *testing.T, path string) { mediatest.Write(t, path, nil) },
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name+" before a restart", func(t *testing.T) {
			c, fake := newTestCache(t, 1<<30)
			m := fake.Send(bridge.MediaImage, plain)
			wantFile(t, c, m, plain)
			c.Close()
			harm(t, keptAt(t, c, m))
			again := openTestCache(t, c.lru.dir, 1<<30, fake)
			wantFile(t, again, m, plain)
			if again.lru.total != 5000 {
				t.Errorf("%d bytes noted", again.lru.total)
			}
		})
	}
}

func TestCache_SurvivesAWipe(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	plain := mediatest.RandomBytes(5000)
	m := fake.Send(bridge.MediaImage, plain)
	wantFile(t, c, m, plain)

	if err := os.RemoveAll(c.lru.dir); err != nil {
		t.Fatal(err)
	}
	wantFile(t, c, m, plain)
	mediatest.Write(t, keptAt(t, c, m), []byte("cut"))
	wantFile(t, c, m, plain)

	// While a download is under way.
	other := fake.Send(bridge.MediaImage, plain[:4000])
	create := c.create
	c.create = func() (*os.File, error) {
		file, err := create()
		return file, errors.Join(err, os.RemoveAll(c.lru.dir))
	}
	_, err := c.Open(t.Context(), other)
	mediatest.WantCode(t, err, bridge.CodeStorageUnavailable)
	c.create = create
	wantFile(t, c, other, plain[:4000])
	wantFile(t, c, m, plain)
	mediatest.WantOnly(t, c.lru.dir, 2)
	if c.lru.total != 9000 {
		t.Errorf("%d bytes noted", c.lru.total)
	}
}

func TestCache_FullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no full disk here")
	}
	c, fake := newTestCache(t, 1<<30)
	plain := mediatest.RandomBytes(10 * chunk)
	m := fake.Send(bridge.MediaImage, plain)
	real := c.create
	c.create = mediatest.FullDisk(real)
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeStorageUnavailable)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("cause lost: %v", err)
	}
	if n := fake.Downloads(); n != 1 {
		t.Errorf("%d downloads for a full disk", n)
	}
	mediatest.WantOnly(t, c.lru.dir, 0)
	c.create = real
	wantFile(t, c, m, plain)
}
