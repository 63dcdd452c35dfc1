package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

// chunk is how many bytes of a file are decrypted at a time.
const chunk = 128 << 10

func newTestCache(t testing.TB, keep int64) (*Cache, *mediatest.CDN) {
	t.Helper()
	fake := mediatest.NewCDN(t)
	return openTestCache(t, filepath.Join(t.TempDir(), "media"), keep, fake), fake
}

// connect returns a client of the fake media servers, with short pauses unless the options say otherwise.
func connect(fake *mediatest.CDN, o cdn.Options) *cdn.Client {
	o.Authority, o.TempDir, o.Log = fake.Authority(), cmp.Or(o.TempDir, os.TempDir()), zerolog.Nop()
	o.Idle, o.Pause = cmp.Or(o.Idle, time.Minute), cmp.Or(o.Pause, time.Millisecond)
	return cdn.New(o)
}

func openTestCache(t testing.TB, dir string, keep int64, fake *mediatest.CDN) *Cache {
	t.Helper()
	c, err := NewCache(CacheOptions{Dir: dir, MaxBytes: keep, MaxFile: 8 << 20, CDN: connect(fake, cdn.Options{}), Account: fake, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// wantFile reads a message's file and closes it. It may run in any goroutine.
func wantFile(t testing.TB, c *Cache, m bridge.Message, want []byte) {
	t.Helper()
	f, err := c.Open(context.Background(), m)
	if err != nil {
		t.Errorf("open: %v", err)
		return
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes of %d: %v", len(got), len(want), err)
	}
	sum := sha256.Sum256(want)
	if f.Size != int64(len(want)) || !f.ModTime.Equal(m.Timestamp.Time) || !bytes.Equal(f.SHA256, sum[:]) {
		t.Errorf("described as %d bytes of %s", f.Size, f.ModTime)
	}
	if err := f.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestCache_SecondReadNeedsNoNetwork(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	plain := mediatest.RandomBytes(chunk + 1)
	m := fake.Send(bridge.MediaVideo, plain)
	wantFile(t, c, m, plain)
	fake.Server.Close()
	wantFile(t, c, m, plain)
	info, err := os.Stat(keptAt(t, c, m))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
}

func mustName(t testing.TB, m bridge.Message) string {
	t.Helper()
	name, err := nameOf(m.Media)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// keptAt returns where a message's file lies in the cache.
func keptAt(t testing.TB, c *Cache, m bridge.Message) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.lru.find(mustName(t, m))
	if kept == nil {
		t.Fatal("the file is not kept")
	}
	return c.lru.path(kept.name, kept.Sha256)
}

func TestCache_FileSeeks(t *testing.T) {
	c, fake := newTestCache(t, 0)
	f, err := c.Open(t.Context(), fake.Send(bridge.MediaVideo, []byte("0123456789")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(-3, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "789" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCache_TwentyRequestsAreOneDownload(t *testing.T) {
	for _, keep := range []int64{1 << 30, 0} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			c, fake := newTestCache(t, keep)
			plain := mediatest.RandomBytes(4 * chunk)
			m := fake.Send(bridge.MediaVideo, plain)
			all := make(chan struct{})
			fake.Serve(func(http.ResponseWriter, *http.Request) { <-all }) // until all wait
			var wait sync.WaitGroup
			for range 20 {
				wait.Go(func() { wantFile(t, c, m, plain) })
			}
			waitFor(t, c, func() bool { f := c.downloads[mustName(t, m)]; return f != nil && f.waiters == 20 })
			close(all)
			wait.Wait()
			if n := fake.Downloads(); n != 1 {
				t.Errorf("%d downloads", n)
			}
			mediatest.WantOnly(t, c.lru.dir, int(min(keep, 1)))
		})
	}
}

// waitFor waits for a state of the cache that no event announces.
func waitFor(t *testing.T, c *Cache, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		c.mu.Lock()
		ok := reached()
		c.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the state was not reached")
		}
		runtime.Gosched()
	}
}

func TestCache_FirstCallerMayGoAway(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	plain := mediatest.RandomBytes(chunk)
	m := fake.Send(bridge.MediaImage, plain)
	begun, goOn := make(chan struct{}), make(chan struct{})
	fake.Serve(func(http.ResponseWriter, *http.Request) { close(begun); <-goOn })

	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() { _, err := c.Open(ctx, m); first <- err }()
	<-begun
	var wait sync.WaitGroup
	wait.Go(func() { wantFile(t, c, m, plain) })
	waitFor(t, c, func() bool { return c.downloads[mustName(t, m)].waiters == 2 })
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller got %v", err)
	}
	close(goOn)
	wait.Wait()
	if n := fake.Downloads(); n != 1 {
		t.Errorf("%d downloads", n)
	}
}

func TestCache_NobodyWaitsNobodyDownloads(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	plain := mediatest.RandomBytes(20 * chunk)
	m := fake.Send(bridge.MediaImage, plain)
	begun, ended := make(chan struct{}), make(chan struct{})
	fake.Serve(mediatest.Times(1, func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		fake.Stall(w, r)
		close(ended)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := c.Open(ctx, m); left <- err }()
	<-begun
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-ended // the request to the CDN was given up
	wantFile(t, c, m, plain)
	c.Close()
	mediatest.WantOnly(t, c.lru.dir, 1)
}

func TestCache_CloseEndsDownloads(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, mediatest.RandomBytes(4*chunk))
	begun := make(chan struct{})
	fake.Serve(func(w http.ResponseWriter, r *http.Request) { close(begun); fake.Stall(w, r) })
	got := make(chan error)
	go func() { _, err := c.Open(context.Background(), m); got <- err }()
	<-begun
	c.Close()
	mediatest.WantCode(t, <-got, bridge.CodeNotConnected)
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeNotConnected)
	mediatest.WantOnly(t, c.lru.dir, 0)
}

func TestCache_LeastRecentlyUsedGoesFirst(t *testing.T) {
	const size = 1000
	c, fake := newTestCache(t, 3*size)
	messages := make([]bridge.Message, 4)
	for i := range messages {
		messages[i] = fake.Send(bridge.MediaImage, mediatest.RandomBytes(size + i)[:size])
	}
	plain := func(i int) []byte { return mediatest.RandomBytes(size + i)[:size] }
	for i := range 3 {
		wantFile(t, c, messages[i], plain(i))
	}
	wantFile(t, c, messages[0], plain(0)) // now 1 is the oldest
	wantFile(t, c, messages[3], plain(3))
	mediatest.WantOnly(t, c.lru.dir, 3)
	before := fake.Downloads()
	for _, i := range []int{0, 2, 3} {
		wantFile(t, c, messages[i], plain(i))
	}
	if n := fake.Downloads() - before; n != 0 {
		t.Errorf("%d downloads of files that were to stay", n)
	}
	wantFile(t, c, messages[1], plain(1))
	if n := fake.Downloads() - before; n != 1 {
		t.Errorf("%d downloads of the file that was to go", n)
	}
}

func TestCache_OpenFilesStay(t *testing.T) {
	c, fake := newTestCache(t, 1000)
	a, b := mediatest.RandomBytes(800), mediatest.RandomBytes(900)
	held, err := c.Open(t.Context(), fake.Send(bridge.MediaImage, a))
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, c, fake.Send(bridge.MediaImage, b), b)
	mediatest.WantOnly(t, c.lru.dir, 1) // b went, though a was used longer ago
	if got, err := io.ReadAll(held); err != nil || !bytes.Equal(got, a) {
		t.Errorf("read %d bytes: %v", len(got), err)
	}
	for range 2 {
		if err := held.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	mediatest.WantOnly(t, c.lru.dir, 1)
	if c.lru.total != 800 {
		t.Errorf("%d bytes noted", c.lru.total)
	}
}

func TestCache_OffKeepsNothing(t *testing.T) {
	c, fake := newTestCache(t, 0)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	first, err := c.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, c, m, []byte("hello")) // while it is open there is no need to ask again
	mediatest.WantOnly(t, c.lru.dir, 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	mediatest.WantOnly(t, c.lru.dir, 0)
	wantFile(t, c, m, []byte("hello"))
	if n := fake.Downloads(); n != 2 {
		t.Errorf("%d downloads, want 2", n)
	}
}

func TestCache_RefusesWhatCannotBeOpened(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	_, err := c.Open(t.Context(), bridge.Message{ID: "3EB0"})
	mediatest.WantCode(t, err, bridge.CodeNotFound)
	for name, spoil := range map[string]func(*bridge.Media){
		"no key":       func(m *bridge.Media) { m.Ref.MediaKey = nil },
		"short key":    func(m *bridge.Media) { m.Ref.MediaKey = m.Ref.MediaKey[:31] },
		"short hash":   func(m *bridge.Media) { m.Ref.FileEncSHA256 = m.Ref.FileEncSHA256[:31] },
		"no such kind": func(m *bridge.Media) { m.Type = "poem" },
	} {
		t.Run(name, func(t *testing.T) {
			m := fake.Send(bridge.MediaImage, []byte("hello"))
			spoil(m.Media)
			_, err := c.Open(t.Context(), m)
			mediatest.WantCode(t, err, bridge.CodeMediaInvalid)
		})
	}
	if n := fake.Downloads(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestCache_UnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	mediatest.Write(t, file, nil)
	if _, err := NewCache(CacheOptions{Dir: file}); err == nil {
		t.Error("a file was taken for a directory")
	}
}

func TestCache_ManyFilesAtOnce(t *testing.T) {
	const size = 2000
	c, fake := newTestCache(t, 5*size) // far less than is asked for
	var wait sync.WaitGroup
	for i := range 12 {
		plain := mediatest.RandomBytes(size + i)[:size]
		m := fake.Send(bridge.MediaImage, plain)
		for range 4 {
			wait.Go(func() {
				for range 10 {
					wantFile(t, c, m, plain)
				}
			})
		}
	}
	wait.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.total > c.lru.max || len(c.downloads) != 0 {
		t.Errorf("%d bytes kept of at most %d, %d downloads", c.lru.total, c.lru.max, len(c.downloads))
	}
	mediatest.WantOnly(t, c.lru.dir, c.lru.order.Len())
}

// open opens a message's file, which the test closes itself.
func open(t *testing.T, c *Cache, m bridge.Message) *File {
	t.Helper()
	f, err := c.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Two senders may claim that their different files have the same contents.
func TestCache_NamesFilesByWhatIsChecked(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m, liar := fake.Send(bridge.MediaImage, []byte("honest")), fake.Send(bridge.MediaImage, []byte("other!"))
	wantFile(t, c, m, []byte("honest"))
	liar.Media.Ref.FileSHA256 = m.Media.Ref.FileSHA256
	if mustName(t, m) == mustName(t, liar) {
		t.Error("two files have one name")
	}
}
