package files

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

// blocked holds the answers of the CDN back until goOn is called.
func blocked(fake *mediatest.CDN) (begun chan struct{}, goOn func()) {
	begun, gate := make(chan struct{}, 100), make(chan struct{})
	fake.Serve(func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	})
	return begun, sync.OnceFunc(func() { close(gate) })
}

// large sends a file of nearly the largest size.
func large(c *Cache, fake *mediatest.CDN, i int) (bridge.Message, []byte) {
	plain := mediatest.RandomBytes(int(c.opts.MaxFile) - i)
	return fake.Send(bridge.MediaVideo, plain), plain
}

// Of twelve large files at once, with a cache that keeps next to nothing, two are on
// the disk at a time, and all arrive.
func TestAdmission_BoundsTheBytesUnderWay(t *testing.T) {
	c, fake := newTestCache(t, 1000)
	c.opts.MaxFile = 4 * chunk
	begun, goOn := blocked(fake)
	defer goOn()
	var wait sync.WaitGroup
	for i := range 12 {
		m, plain := large(c, fake, i)
		wait.Go(func() { wantFile(t, c, m, plain) })
	}
	waitFor(t, c, func() bool { return len(c.waiting) == 10 && c.running == 2 })
	for range 2 {
		<-begun
	}
	var peak atomic.Int64
	create := c.create
	c.create = func() (*os.File, error) {
		peak.Store(max(peak.Load(), diskUse(t, c)))
		return create()
	}
	goOn()
	wait.Wait()
	if got, most := peak.Load(), downloadsOfDisk*cdn.EncryptedSize(c.opts.MaxFile)+c.lru.max; got > most {
		t.Errorf("%d bytes on the disk, at most %d were allowed", got, most)
	}
	if c.running != 0 || c.reserved != 0 || len(c.waiting) != 0 {
		t.Errorf("%d run and %d bytes are reserved after the end", c.running, c.reserved)
	}
}

// diskUse returns the size of all files in the cache's directory.
func diskUse(t *testing.T, c *Cache) (size int64) {
	entries, err := os.ReadDir(c.lru.dir)
	if err != nil {
		t.Error(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // or gone since
			size += info.Size()
		}
	}
	return size
}

// A file that is read slowly takes room as well: downloads wait until it is closed.
func TestAdmission_CountsWhatIsOpen(t *testing.T) {
	c, fake := newTestCache(t, 0)
	c.opts.MaxFile = chunk
	var held []*File
	for i := range 2 {
		m, _ := large(c, fake, i)
		held = append(held, open(t, c, m))
	}
	m, plain := large(c, fake, 2)
	var wait sync.WaitGroup
	wait.Go(func() { wantFile(t, c, m, plain) })
	waitFor(t, c, func() bool { return len(c.waiting) == 1 })
	if n := fake.Downloads(); n != 2 {
		t.Errorf("%d downloads while the room is taken", n)
	}
	if err := held[0].Close(); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if err := held[1].Close(); err != nil {
		t.Error(err)
	}
}

func TestAdmission_BoundsTheNumber(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	begun, goOn := blocked(fake)
	defer goOn()
	var wait sync.WaitGroup
	for i := range maxDownloads + 3 {
		plain := mediatest.RandomBytes(100 + i)
		m := fake.Send(bridge.MediaImage, plain)
		wait.Go(func() { wantFile(t, c, m, plain) })
	}
	waitFor(t, c, func() bool { return len(c.waiting) == 3 && c.running == maxDownloads })
	for range maxDownloads {
		<-begun
	}
	goOn()
	wait.Wait()
}

// A caller that waits too long is told to retry, one that goes away waits no longer.
func TestAdmission_EndsTheWait(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	begun, goOn := blocked(fake)
	defer goOn()
	var wait sync.WaitGroup
	for i := range maxDownloads {
		plain := mediatest.RandomBytes(100 + i)
		m := fake.Send(bridge.MediaImage, plain)
		wait.Go(func() { wantFile(t, c, m, plain) })
	}
	for range maxDownloads {
		<-begun
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	late := fake.Send(bridge.MediaImage, []byte("late"))
	go func() { _, err := c.Open(ctx, late); left <- err }()
	waitFor(t, c, func() bool { return len(c.waiting) == 1 })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who went away got %v", err)
	}
	waitFor(t, c, func() bool { return len(c.waiting) == 0 })

	c.timeout = time.Millisecond
	_, err := c.Open(t.Context(), late)
	mediatest.WantCode(t, err, bridge.CodeMediaUnavailable)
	var busy *bridge.Error
	if !errors.As(err, &busy) || busy.RetryAfter == 0 {
		t.Errorf("no time to come back in %v", err)
	}
	goOn()
	wait.Wait()
	fake.Serve(nil)
	wantFile(t, c, late, []byte("late"))
}

// A full disk takes room from the cached files that nobody reads, the least recently
// used first. If it stays full, the error says so.
func TestCache_FullDiskEvictsFirst(t *testing.T) {
	fake := mediatest.NewCDN(t)
	c := openTestCache(t, mediatest.SmallDisk(t), 1<<30, fake)
	const size = 300 << 10
	var messages []bridge.Message
	for i := range 3 {
		m := fake.Send(bridge.MediaImage, mediatest.RandomBytes(size+i))
		messages = append(messages, m)
		wantFile(t, c, m, mediatest.RandomBytes(size+i))
	}
	mediatest.WantOnly(t, c.lru.dir, 3)
	fourth := fake.Send(bridge.MediaImage, mediatest.RandomBytes(size-100))
	held := []*File{open(t, c, messages[0])} // in use, though used longest ago
	wantFile(t, c, fourth, mediatest.RandomBytes(size-100))
	mediatest.WantOnly(t, c.lru.dir, 3)
	before := fake.Downloads()
	wantFile(t, c, messages[2], mediatest.RandomBytes(size+2))
	if n := fake.Downloads() - before; n != 0 {
		t.Error("the file that was used last was removed")
	}
	if got, err := io.ReadAll(held[0]); err != nil || len(got) != size {
		t.Errorf("the open file has %d bytes: %v", len(got), err)
	}
	held = append(held, open(t, c, messages[2]), open(t, c, fourth))
	before = fake.Downloads()
	_, err := c.Open(t.Context(), messages[1])
	mediatest.WantCode(t, err, bridge.CodeStorageUnavailable)
	if !errors.Is(err, syscall.ENOSPC) || fake.Downloads()-before != 1 {
		t.Errorf("%d downloads, %v", fake.Downloads()-before, err)
	}
	for _, file := range held {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	wantFile(t, c, messages[1], mediatest.RandomBytes(size+1))
}
