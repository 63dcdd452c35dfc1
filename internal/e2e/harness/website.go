package harness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// FetchesLoopback lets send-media fetch from web servers at 127.0.0.2, which represent public ones. 127.0.0.1
// remains private.
const FetchesLoopback = "SIMULATED_FETCH_ALLOW=127.0.0.2/32"

// Website is a server of files to send.
type Website struct {
	*httptest.Server
	Mu    sync.Mutex
	Files map[string]http.HandlerFunc // by path; guarded by mu
	asked map[string]int              // guarded by mu
}

func NewWebsite(t testing.TB) *Website {
	t.Helper()
	w := &Website{Files: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	w.Server = httptest.NewUnstartedServer(w)
	if err := w.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Fatal(err)
	}
	w.Start()
	t.Cleanup(w.Close)
	return w
}

func (w *Website) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.Mu.Lock()
	w.asked[r.URL.Path]++
	file := w.Files[r.URL.Path]
	w.Mu.Unlock()
	if file == nil {
		http.NotFound(rw, r)
		return
	}
	file(rw, r)
}

// Serves sets the answer of a path and returns its URL.
func (w *Website) Serves(path string, file http.HandlerFunc) (url string) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.Files[path] = file
	return w.URL + path
}

// Has puts a file at a path. Like many servers, it sends no types.
func (w *Website) Has(path string, file []byte) (url string) {
	return w.Serves(path, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/octet-stream")
		_, _ = rw.Write(file)
	})
}

func (w *Website) Fetches(path string) int {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.asked[path]
}

// canary is a listener at 127.0.0.1 that must get no connections.
type canary struct {
	Port string
	Sang atomic.Int32
}

func NewCanary(t testing.TB) *canary {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := new(canary)
	if _, c.Port, err = net.SplitHostPort(listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.Sang.Add(1)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsecret")
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		listening.Wait()
		if n := c.Sang.Load(); n > 0 {
			t.Errorf("%d connections were made to a private address", n)
		}
	})
	return c
}

// Noise returns a file of random bytes, the same for the same size.
func Noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(b) // never fails
	return b
}

// Film returns the head of an MP4 file: 320 by 240, 7 seconds.
func Film() []byte {
	box := func(name string, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8)), name...), body...)
	}
	words := func(values ...uint32) (b []byte) {
		for _, v := range values {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	matrix := words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
	track := box("trak",
		box("tkhd", words(3, 0, 0, 1, 0, 7000, 0, 0, 0, 0), matrix, words(320<<16, 240<<16)),
		box("mdia", box("hdlr", words(0, 0), []byte("vide"), words(0, 0, 0), []byte("h\x00"))))
	movie := box("moov", box("mvhd", words(0, 0, 0, 1000, 7000, 0x10000, 0x01000000, 0, 0), make([]byte, 36+24), words(9)), track)
	return bytes.Join([][]byte{box("ftyp", []byte("isom"), words(0), []byte("isom")), movie, box("mdat", Noise(5000))}, nil)
}

// Song returns an MP3 file of 115 frames, 3 seconds, at 128 kbit/s and 44.1 kHz.
func Song() []byte {
	frame := make([]byte, 417)
	copy(frame, []byte{0xFF, 0xFB, 0x90, 0x00})
	return bytes.Repeat(frame, 115)
}

// LeavesNoFile checks that fetches and uploads have left no file in tmp.
func (p *Process) LeavesNoFile() {
	p.T.Helper()
	Eventually(p.T, func() error {
		left, err := os.ReadDir(filepath.Join(p.Env["DATA_DIR"], "tmp"))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left in tmp: %v", left)
		}
		return err
	})
}

// FreePort returns an unused port. The system gives only higher ports to listeners and connections without a
// port of their own, so that no other test gets it before it is used.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		if listener, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatal("no port is unused")
	return ""
}
