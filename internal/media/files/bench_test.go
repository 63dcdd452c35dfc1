package files

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

const benchSize = 100 << 20

// BenchmarkDownload downloads 100 MB, nothing cached, over TLS from the
// same machine.
func BenchmarkDownload(b *testing.B) {
	c, fake := newTestCache(b, 0)
	c.opts.MaxFile = benchSize
	m := fake.Send(bridge.MediaVideo, mediatest.RandomBytes(benchSize))
	b.SetBytes(benchSize)
	for b.Loop() {
		f, err := c.Open(b.Context(), m)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCached(b *testing.B) {
	c, fake := newTestCache(b, 1<<30)
	c.opts.MaxFile = benchSize
	m := fake.Send(bridge.MediaVideo, mediatest.RandomBytes(benchSize))
	for b.Loop() {
		f, err := c.Open(b.Context(), m)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory_StaysFlat downloads and encrypts eight large files at once. The CDN
// runs in the same process and is part of what is measured.
func TestMemory_StaysFlat(t *testing.T) {
	const size, limit = 8 << 20, 16 << 20
	c, fake := newTestCache(t, 0)
	c.opts.MaxFile = size
	plain := mediatest.RandomBytes(size)
	messages := make([]bridge.Message, 8)
	for i := range messages {
		plain[0] = byte(i)
		messages[i] = fake.Send(bridge.MediaVideo, plain)
	}
	grown := mediatest.HeapPeak(func() {
		var wait sync.WaitGroup
		for _, m := range messages {
			wait.Go(func() {
				f, err := c.Open(context.Background(), m)
				if err != nil {
					t.Error(err)
					return
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	})
	t.Logf("8 downloads of %d MiB: +%.1f MiB", size>>20, float64(grown)/(1<<20))
	if grown > limit {
		t.Errorf("downloading takes %d MiB", grown>>20)
	}

	path := filepath.Join(t.TempDir(), "plain")
	mediatest.Write(t, path, plain)
	grown = mediatest.HeapPeak(func() {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				file, err := os.Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = file.Close() }()
				if _, err := cdn.Encrypt(io.Discard, file, bridge.MediaVideo); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	})
	t.Logf("8 encryptions of %d MiB: +%.1f MiB", size>>20, float64(grown)/(1<<20))
	if grown > limit {
		t.Errorf("encrypting takes %d MiB", grown>>20)
	}
}
