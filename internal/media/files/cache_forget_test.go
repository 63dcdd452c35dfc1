package files

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

func TestForget_RemovesTheFileAtOnce(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m, other := fake.Send(bridge.MediaImage, []byte("deleted")), fake.Send(bridge.MediaImage, []byte("stays"))
	wantFile(t, c, m, []byte("deleted"))
	wantFile(t, c, other, []byte("stays"))
	held := open(t, c, m)
	if err := c.Forget(nil, m.Media, &bridge.Media{Type: bridge.MediaImage}, m.Media); err != nil {
		t.Fatal(err)
	}
	mediatest.WantOnly(t, c.lru.dir, 1)
	if got, err := io.ReadAll(held); err != nil || string(got) != "deleted" {
		t.Errorf("who had it open read %q, %v", got, err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	if c.lru.total != int64(len("stays")) {
		t.Errorf("%d bytes noted", c.lru.total)
	}
	before := fake.Downloads()
	wantFile(t, c, other, []byte("stays"))
	wantFile(t, c, m, []byte("deleted")) // a forward of it, say
	if n := fake.Downloads() - before; n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}

// A file that an earlier process left is forgotten as well.
func TestForget_AfterARestart(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("deleted"))
	wantFile(t, c, m, []byte("deleted"))
	c.Close()
	again := openTestCache(t, c.lru.dir, 1<<30, fake)
	if err := again.Forget(m.Media); err != nil {
		t.Fatal(err)
	}
	mediatest.WantOnly(t, c.lru.dir, 0)
}

// When a message is deleted while its file is downloaded, the file is not kept, its
// own readers are told of the deletion, and those of a forward get the file.
func TestForget_WhileItIsDownloaded(t *testing.T) {
	for name, told := range map[string]bool{"told at once": true, "found out at the end": false} {
		t.Run(name, func(t *testing.T) {
			c, fake := newTestCache(t, 1<<30)
			m := fake.Send(bridge.MediaVideo, mediatest.RandomBytes(5*chunk))
			forward := m
			forward.ID = "3EB0FF"
			var deleted atomic.Bool
			c.opts.HasFile = func(_ context.Context, asked bridge.Message) (bool, error) {
				return asked.ID != m.ID || !deleted.Load(), nil
			}
			begun, goOn := make(chan struct{}), make(chan struct{})
			fake.Serve(mediatest.Times(1, func(http.ResponseWriter, *http.Request) { close(begun); <-goOn }))
			var wait sync.WaitGroup
			wait.Go(func() {
				_, err := c.Open(context.Background(), m)
				mediatest.WantCode(t, err, bridge.CodeNotFound)
			})
			<-begun
			download := c.downloads[mustName(t, m)]
			wait.Go(func() { wantFile(t, c, forward, mediatest.RandomBytes(5*chunk)) })
			waitFor(t, c, func() bool { return download.waiters == 2 })
			deleted.Store(true)
			if told {
				if err := c.Forget(m.Media); err != nil {
					t.Error(err)
				}
			}
			close(goOn)
			wait.Wait()
			if n := fake.Downloads(); n != 2 {
				t.Errorf("%d downloads, want one that was dropped and the forward's", n)
			}
			if err := c.Forget(forward.Media); err != nil {
				t.Error(err)
			}
			mediatest.WantOnly(t, c.lru.dir, 0)
		})
	}
}

// A message may be deleted between the look into the store and the download.
func TestForget_BeforeTheDownloadBegins(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaVideo, []byte("deleted"))
	c.opts.HasFile = func(context.Context, bridge.Message) (bool, error) { return false, nil }
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeNotFound)
	mediatest.WantOnly(t, c.lru.dir, 0)
}

// A file that cannot be removed is not shown, and is removed as soon as possible.
func TestForget_TriesAgain(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m, other := fake.Send(bridge.MediaImage, []byte("deleted")), fake.Send(bridge.MediaImage, []byte("other"))
	wantFile(t, c, m, []byte("deleted"))
	path := keptAt(t, c, m)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Forget(m.Media); err == nil {
			t.Error("a file that stays was called removed")
		}
	}
	if err := os.Remove(filepath.Join(path, "in the way")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, c, other, []byte("other"))
	mediatest.WantOnly(t, c.lru.dir, 1)
}
