package media

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bridged/internal/bridge"
)

const benchSize = 100 << 20

// BenchmarkDownload downloads 100 MB, nothing cached, over TLS from the
// same machine.
func BenchmarkDownload(b *testing.B) {
	c, cdn := newTestCache(b, 0)
	c.opts.MaxFile = benchSize
	m := cdn.send(bridge.MediaVideo, randomBytes(benchSize))
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

// BenchmarkDownloadInMemory does the same as whatsmeow's Download: read
// all, hash, check the MAC, decrypt, hash. It writes no file.
func BenchmarkDownloadInMemory(b *testing.B) {
	_, cdn := newTestCache(b, 0)
	m := cdn.send(bridge.MediaVideo, randomBytes(benchSize))
	address, err := fileURL(cdn.hosts[0], m.Media.Ref.DirectPath, m.Media)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchSize)
	for b.Loop() {
		resp, err := cdn.server.Client().Get(address)
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		openInMemory(b, data, m.Media)
	}
}

func openInMemory(b *testing.B, data []byte, m *bridge.Media) {
	keys, err := expand(m.Ref.MediaKey, m.Type)
	if err != nil {
		b.Fatal(err)
	}
	if sha256.Sum256(data) != [32]byte(m.Ref.FileEncSHA256) {
		b.Fatal("wrong hash")
	}
	body, tag := data[:len(data)-macSize], data[len(data)-macSize:]
	mac := keys.newMAC()
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil)[:macSize], tag) {
		b.Fatal("wrong MAC")
	}
	cipher.NewCBCDecrypter(keys.block, keys.iv).CryptBlocks(body, body)
	if sha256.Sum256(body[:len(body)-int(body[len(body)-1])]) != [32]byte(m.Ref.FileSHA256) {
		b.Fatal("wrong plain hash")
	}
}

// BenchmarkDecrypt measures decryption without the network.
func BenchmarkDecrypt(b *testing.B) {
	m, encrypted := encryptedMedia(b, bridge.MediaVideo, randomBytes(benchSize))
	b.SetBytes(benchSize)
	for b.Loop() {
		if _, err := decrypt(io.Discard, bytes.NewReader(encrypted), m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecryptInMemory(b *testing.B) {
	m, encrypted := encryptedMedia(b, bridge.MediaVideo, randomBytes(benchSize))
	data := make([]byte, len(encrypted))
	b.SetBytes(benchSize)
	for b.Loop() {
		copy(data, encrypted)
		openInMemory(b, data, m)
	}
}

func BenchmarkEncrypt(b *testing.B) {
	plain := randomBytes(benchSize)
	b.SetBytes(benchSize)
	for b.Loop() {
		if _, err := Encrypt(io.Discard, bytes.NewReader(plain), bridge.MediaVideo); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncryptInMemory encrypts as whatsmeow's Upload does.
func BenchmarkEncryptInMemory(b *testing.B) {
	plain, key := randomBytes(benchSize), make([]byte, mediaKeySize)
	b.SetBytes(benchSize)
	for b.Loop() {
		sha256.Sum256(plain)
		sha256.Sum256(plainEncrypt(b, plain, infos[bridge.MediaVideo], key))
	}
}

// BenchmarkCipher measures AES-CBC alone, for comparison.
func BenchmarkCipher(b *testing.B) {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	data, iv := make([]byte, benchSize), make([]byte, 16)
	b.Run("decrypt", func(b *testing.B) {
		b.SetBytes(benchSize)
		for b.Loop() {
			cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
		}
	})
	b.Run("encrypt", func(b *testing.B) {
		b.SetBytes(benchSize)
		for b.Loop() {
			cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
		}
	})
}

func BenchmarkCached(b *testing.B) {
	c, cdn := newTestCache(b, 1<<30)
	c.opts.MaxFile = benchSize
	m := cdn.send(bridge.MediaVideo, randomBytes(benchSize))
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

// heapPeak runs do and returns by how much the heap grew at most meanwhile.
// Garbage is collected often, so that what is measured is what is in use.
func heapPeak(do func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				runtime.ReadMemStats(&now)
				peak.Store(max(peak.Load(), now.HeapInuse))
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	return int64(peak.Load()) - int64(before.HeapInuse)
}

// TestMemory_StaysFlat downloads and encrypts eight large files at once. The CDN
// runs in the same process and is part of what is measured.
func TestMemory_StaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("moves hundreds of megabytes")
	}
	const size, limit = 32 << 20, 64 << 20
	c, cdn := newTestCache(t, 0)
	c.opts.MaxFile = size
	plain := randomBytes(size)
	messages := make([]bridge.Message, 8)
	for i := range messages {
		plain[0] = byte(i)
		messages[i] = cdn.send(bridge.MediaVideo, plain)
	}
	grown := heapPeak(func() {
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
	write(t, path, plain)
	grown = heapPeak(func() {
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				file, err := os.Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = file.Close() }()
				if _, err := Encrypt(io.Discard, file, bridge.MediaVideo); err != nil {
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
