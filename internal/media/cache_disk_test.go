package media

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func TestCache_SurvivesARestart(t *testing.T) {
	const size = 1000
	c, cdn := newTestCache(t, 10*size)
	var messages []bridge.Message
	for i := range 3 {
		m := cdn.send(bridge.MediaImage, randomBytes(size + i)[:size])
		messages = append(messages, m)
		wantFile(t, c, m, randomBytes(size + i)[:size])
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

	again := openTestCache(t, c.lru.dir, 2*size, cdn) // smaller than before
	wantOnly(t, c.lru.dir, 2+3)                       // the partial file and the oldest are gone, the others' stay
	before := cdn.downloads()
	for i := 1; i < 3; i++ {
		wantFile(t, again, messages[i], randomBytes(size + i)[:size])
	}
	if n := cdn.downloads() - before; n != 0 {
		t.Errorf("%d downloads of what an earlier process had", n)
	}
}

func TestCache_DoesNotTrustTheDisk(t *testing.T) {
	plain := randomBytes(5000)
	for name, harm := range map[string]func(t *testing.T, path string){
		"same size": func(t *testing.T, path string) { write(t, path, randomBytes(5001)[:5000]) },
		"empty":     func(t *testing.T, path string) { write(t, path, nil) },
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name+" before a restart", func(t *testing.T) {
			c, cdn := newTestCache(t, 1<<30)
			m := cdn.send(bridge.MediaImage, plain)
			wantFile(t, c, m, plain)
			c.Close()
			harm(t, keptAt(t, c, m))
			again := openTestCache(t, c.lru.dir, 1<<30, cdn)
			wantFile(t, again, m, plain)
			if again.lru.total != 5000 {
				t.Errorf("%d bytes noted", again.lru.total)
			}
		})
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCache_SurvivesAWipe(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	plain := randomBytes(5000)
	m := cdn.send(bridge.MediaImage, plain)
	wantFile(t, c, m, plain)

	if err := os.RemoveAll(c.lru.dir); err != nil {
		t.Fatal(err)
	}
	wantFile(t, c, m, plain)
	write(t, keptAt(t, c, m), []byte("cut"))
	wantFile(t, c, m, plain)

	// While a download is under way.
	other := cdn.send(bridge.MediaImage, plain[:4000])
	create := c.create
	c.create = func() (*os.File, error) {
		file, err := create()
		return file, errors.Join(err, os.RemoveAll(c.lru.dir))
	}
	_, err := c.Open(t.Context(), other)
	wantCode(t, err, bridge.CodeStorageUnavailable)
	c.create = create
	wantFile(t, c, other, plain[:4000])
	wantFile(t, c, m, plain)
	wantOnly(t, c.lru.dir, 2)
	if c.lru.total != 9000 {
		t.Errorf("%d bytes noted", c.lru.total)
	}
}

// fullDisk returns a create function whose files fail as on a full disk: /dev/full
// under their name.
func fullDisk(create func() (*os.File, error)) func() (*os.File, error) {
	return func() (*os.File, error) {
		file, err := create()
		if err != nil {
			return nil, err
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
		fd, err := syscall.Open("/dev/full", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), file.Name()), nil
	}
}

func TestCache_FullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no full disk here")
	}
	c, cdn := newTestCache(t, 1<<30)
	plain := randomBytes(10 * chunkSize)
	m := cdn.send(bridge.MediaImage, plain)
	real := c.create
	c.create = fullDisk(real)
	_, err := c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeStorageUnavailable)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("cause lost: %v", err)
	}
	if n := cdn.downloads(); n != 1 {
		t.Errorf("%d downloads for a full disk", n)
	}
	wantOnly(t, c.lru.dir, 0)
	c.create = real
	wantFile(t, c, m, plain)
}
