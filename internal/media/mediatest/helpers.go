package mediatest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// WriteProgram writes an executable file. No process starts meanwhile: it would inherit the open file, which then
// cannot be executed ("text file busy") until that process has its own program.
func WriteProgram(t testing.TB, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// Allocated returns how many bytes f allocates. Nothing else runs meanwhile.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// HeapPeak runs do and returns the largest growth of the heap meanwhile. Garbage is collected often,
// so that only used memory counts.
func HeapPeak(do func()) int64 {
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

func RandomBytes(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)})
	_, _ = r.Read(b)
	return b
}

// PlainEncrypt encrypts in memory as the network's clients do, without any of the
// package's own code.
func PlainEncrypt(t testing.TB, plain []byte, info string, key []byte) []byte {
	t.Helper()
	k, err := hkdf.Key(sha256.New, key, nil, info, 112)
	if err != nil {
		t.Fatal(err)
	}
	padding := 16 - len(plain)%16
	data := append(bytes.Clone(plain), bytes.Repeat([]byte{byte(padding)}, padding)...)
	block, err := aes.NewCipher(k[16:48])
	if err != nil {
		t.Fatal(err)
	}
	cipher.NewCBCEncrypter(block, k[:16]).CryptBlocks(data, data)
	mac := hmac.New(sha256.New, k[48:80])
	mac.Write(k[:16])
	mac.Write(data)
	return append(data, mac.Sum(nil)[:10]...)
}

var Infos = map[bridge.MediaType]string{
	bridge.MediaImage: "WhatsApp Image Keys", bridge.MediaSticker: "WhatsApp Image Keys", bridge.MediaVideo: "WhatsApp Video Keys",
	bridge.MediaAudio: "WhatsApp Audio Keys", bridge.MediaDocument: "WhatsApp Document Keys",
}

// EncryptedMedia returns a file as a sender describes it, and its encrypted bytes.
func EncryptedMedia(t testing.TB, kind bridge.MediaType, plain []byte) (*bridge.Media, []byte) {
	t.Helper()
	key := sha256.Sum256(append([]byte(kind), plain...))
	encrypted := PlainEncrypt(t, plain, Infos[kind], key[:])
	plainHash, encryptedHash := sha256.Sum256(plain), sha256.Sum256(encrypted)
	return &bridge.Media{
		Type: kind, Size: int64(len(plain)),
		Ref: bridge.MediaRef{MediaKey: key[:], FileSHA256: plainHash[:], FileEncSHA256: encryptedHash[:]},
	}, encrypted
}

// WantOnly checks how many files a directory has, partial ones included.
func WantOnly(t testing.TB, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != want {
		t.Errorf("%d files, want %d: %v", len(entries), want, entries)
	}
}

func WantCode(t *testing.T, err error, want bridge.Code) {
	t.Helper()
	var known *bridge.Error
	if !errors.As(err, &known) || known.Code != want {
		t.Errorf("got %v (%s), want %s", err, bridge.CodeOf(err), want)
	}
}

func Write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// FullDisk returns a create function whose files fail as on a full disk: /dev/full
// under their name.
func FullDisk(create func() (*os.File, error)) func() (*os.File, error) {
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
