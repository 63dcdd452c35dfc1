package media

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

// boundedWriter is full after a number of bytes.
type boundedWriter struct {
	bytes.Buffer
	left int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	w.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestRoom_WritingGoesOnWhereItStopped(t *testing.T) {
	disk := &boundedWriter{left: 10}
	given := 0
	w := room(func(size int64) bool {
		given++
		disk.left += 30
		return given < 4
	}).writer(disk)
	if n, err := w.Write(randomBytes(90)); n != 90 || err != nil || !bytes.Equal(disk.Bytes(), randomBytes(90)) || given != 3 {
		t.Errorf("wrote %d bytes with room made %d times: %v", n, given, err)
	}
	if n, err := w.Write(randomBytes(90)); n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d bytes where there is no room left: %v", n, err)
	}
	var none room
	if n, err := none.writer(&boundedWriter{left: 5}).Write(make([]byte, 6)); n != 5 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d bytes where nothing makes room: %v", n, err)
	}
}

func TestRoom_MakesFiles(t *testing.T) {
	full := true
	made, err := room(func(int64) bool { was := full; full = false; return was }).create(func() (*os.File, error) {
		if full {
			return nil, &os.PathError{Op: "open", Err: syscall.EDQUOT}
		}
		return os.CreateTemp(t.TempDir(), "x")
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

// fullOfMedia returns a cache that leaves next to nothing of its disk of 1 MiB.
func fullOfMedia(t *testing.T) *Cache {
	t.Helper()
	c, cdn := smallDisk(t)
	const size = 300 << 10
	for i := range 3 {
		wantFile(t, c, cdn.send(bridge.MediaImage, randomBytes(size+i)), randomBytes(size+i))
	}
	wantOnly(t, c.lru.dir, 3)
	return c
}

// A file that is fetched to be sent takes its room from the cache.
func TestPrepare_FullDiskEvictsTheCache(t *testing.T) {
	c := fullOfMedia(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(randomBytes(600 << 10)) }))
	defer server.Close()
	guard := urlguard.New(urlguard.Options{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	p := NewPreparer(PreparerOptions{Guard: guard, TempDir: filepath.Join(c.lru.dir, "tmp"), MaxBytes: 1 << 20, Cache: c, Log: zerolog.Nop()})
	f, cleanup, err := p.Prepare(t.Context(), Request{URL: server.URL, Type: bridge.MediaDocument})
	defer cleanup()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(got, randomBytes(600<<10)) {
		t.Errorf("fetched %d bytes: %v", len(got), err)
	}
}

// So does the encrypted file of an upload.
func TestUpload_FullDiskEvictsTheCache(t *testing.T) {
	c := fullOfMedia(t)
	h := newHosts(t, []answer{taken})
	h.cdn.tempDir = c.lru.dir
	h.cdn.cache.Store(c)
	path := filepath.Join(t.TempDir(), "film")
	write(t, path, randomBytes(600<<10))
	conns := func(context.Context, bool) (bridge.MediaConn, error) {
		return bridge.MediaConn{Hosts: []string{h.servers[0].Listener.Addr().String()}, Auth: "a"}, nil
	}
	up, err := h.cdn.Upload(t.Context(), conns, bridge.File{Type: bridge.MediaVideo, Path: path})
	if err != nil || up.Size != 600<<10 {
		t.Errorf("uploaded %d bytes: %v", up.Size, err)
	}
	wantOnly(t, c.lru.dir, 1) // two went, and the upload's own is gone again
}

// The program's uploads and downloads use one CDN: opening the cache is enough.
func TestNewCache_GivesRoomToUploads(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	wantFile(t, c, cdn.send(bridge.MediaImage, []byte("kept")), []byte("kept"))
	if !c.opts.CDN.makeRoom(1) || c.opts.CDN.makeRoom(1) {
		t.Error("room was made from another than the one file of the cache")
	}
	wantOnly(t, c.lru.dir, 0)
}
