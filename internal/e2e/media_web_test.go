package e2e

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
	"sync"
	"sync/atomic"
	"testing"
)

// fetchesLoopback lets send-media fetch from this machine's web servers at
// 127.0.0.2, which stand for public ones. 127.0.0.1 stays private.
const fetchesLoopback = "SIMULATED_FETCH_ALLOW=127.0.0.2/32"

// website is a server of files to send.
type website struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]http.HandlerFunc // by path; guarded by mu
	asked map[string]int              // guarded by mu
}

func newWebsite(t testing.TB) *website {
	t.Helper()
	w := &website{files: map[string]http.HandlerFunc{}, asked: map[string]int{}}
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

func (w *website) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked[r.URL.Path]++
	file := w.files[r.URL.Path]
	w.mu.Unlock()
	if file == nil {
		http.NotFound(rw, r)
		return
	}
	file(rw, r)
}

// serves sets the answer of a path and returns its URL.
func (w *website) serves(path string, file http.HandlerFunc) (url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = file
	return w.URL + path
}

// has puts a file at a path. Like many servers, it sends no types.
func (w *website) has(path string, file []byte) (url string) {
	return w.serves(path, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/octet-stream")
		_, _ = rw.Write(file)
	})
}

func (w *website) fetches(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[path]
}

// canary is a listener at 127.0.0.1 that must get no connections.
type canary struct {
	port string
	sang atomic.Int32
}

func newCanary(t testing.TB) *canary {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := new(canary)
	if _, c.port, err = net.SplitHostPort(listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.sang.Add(1)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsecret")
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		listening.Wait()
		if n := c.sang.Load(); n > 0 {
			t.Errorf("%d connections were made to a private address", n)
		}
	})
	return c
}

// noise returns a file of random bytes, the same for the same size.
func noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(b) // never fails
	return b
}

// film returns the head of an MP4 file: 320 by 240, 7 seconds.
func film() []byte {
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
	return bytes.Join([][]byte{box("ftyp", []byte("isom"), words(0), []byte("isom")), movie, box("mdat", noise(5000))}, nil)
}

// song returns an MP3 file of 115 frames, 3 seconds, at 128 kbit/s and 44.1 kHz.
func song() []byte {
	frame := make([]byte, 417)
	copy(frame, []byte{0xFF, 0xFB, 0x90, 0x00})
	return bytes.Repeat(frame, 115)
}

// leavesNoFile checks that fetches and uploads have left no file in tmp.
func (p *process) leavesNoFile() {
	p.t.Helper()
	eventually(p.t, func() error {
		left, err := os.ReadDir(filepath.Join(p.env["DATA_DIR"], "tmp"))
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left in tmp: %v", left)
		}
		return err
	})
}
