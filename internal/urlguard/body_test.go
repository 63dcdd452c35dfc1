package urlguard

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"bridged/internal/fuzzbudget"
)

// quiet returns a log for servers that are expected to complain.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestFetch_TheLimitIsExact(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", "100000")
		}
		w.Write(make([]byte, 100_000))
	})
	g := newGuard(Options{})
	for _, path := range []string{"/length", "/chunked"} {
		if result, body, err := fetch(t, g, base+path, 100_000); err != nil || len(body) != 100_000 || result.Size != 100_000 {
			t.Errorf("%s: got %d bytes, %v", path, len(body), err)
		}
		_, body, err := fetch(t, g, base+path, 99_999)
		wantRefusal(t, err, "larger than 99999 bytes")
		if len(body) > 99_999 {
			t.Errorf("%s: %d bytes were written", path, len(body))
		}
	}
	_, body, err := fetch(t, g, base+"/length", 99_999)
	wantRefusal(t, err, "larger than")
	if len(body) != 0 {
		t.Errorf("%d bytes were written of a file that said how long it is", len(body))
	}
}

func TestFetch_SaysTheLimitInPlainWords(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "104857601") })
	_, _, err := fetch(t, newGuard(Options{}), base, 100<<20)
	if want := "fetch failed: larger than 100 MiB"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestFetch_StopsReadingAtTheLimit(t *testing.T) {
	var sent atomic.Int64
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for piece := make([]byte, 32<<10); ; {
			n, err := w.Write(piece)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	_, body, err := fetch(t, newGuard(Options{}), base, 1<<20)
	wantRefusal(t, err, "larger than 1 MiB")
	if len(body) > 1<<20 {
		t.Errorf("%d bytes were written", len(body))
	}
	if n := sent.Load(); n > 64<<20 { // what the sockets' buffers hold, and no end
		t.Errorf("%d bytes were taken", n)
	}
}

func zipped(t *testing.T, file []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(file)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encoded(t *testing.T, encoding string, body []byte) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", encoding)
		w.Write(body)
	})
}

func TestFetch_DecompressesWhatNobodyAskedFor(t *testing.T) {
	file := []byte(strings.Repeat("words and words ", 1000))
	for _, encoding := range []string{"gzip", "GZIP", "x-gzip", " gzip "} {
		result, body, err := fetch(t, newGuard(Options{}), encoded(t, encoding, zipped(t, file)), int64(len(file)))
		if err != nil || !bytes.Equal(body, file) || result.Size != int64(len(file)) {
			t.Errorf("%s: got %d bytes, %v", encoding, len(body), err)
		}
	}
	if _, body, err := fetch(t, newGuard(Options{}), encoded(t, "identity", file), 1<<20); err != nil || !bytes.Equal(body, file) {
		t.Errorf("identity: got %d bytes, %v", len(body), err)
	}
	if _, body, err := fetch(t, newGuard(Options{}), encoded(t, "gzip", nil), 1<<20); err != nil || len(body) != 0 {
		t.Errorf("nothing: got %d bytes, %v", len(body), err)
	}
	for _, encoding := range []string{"br", "zstd", "deflate", "compress", "gzip, gzip", "gzip,br", "chunked"} {
		_, _, err := fetch(t, newGuard(Options{}), encoded(t, encoding, zipped(t, file)), 1<<20)
		wantRefusal(t, err, "compressed the file with a method")
	}
}

func TestFetch_CountsAfterDecompression(t *testing.T) {
	bomb := zipped(t, make([]byte, 64<<20))
	if len(bomb) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	_, body, err := fetch(t, newGuard(Options{}), encoded(t, "gzip", bomb), 1<<20)
	wantRefusal(t, err, "larger than 1 MiB")
	if len(body) > 1<<20 {
		t.Errorf("%d bytes were written", len(body))
	}
	// Many small files in a row are one file to gzip.
	small := bytes.Repeat(zipped(t, make([]byte, 50_000)), 100)
	_, body, err = fetch(t, newGuard(Options{}), encoded(t, "gzip", small), 1<<20)
	wantRefusal(t, err, "larger than 1 MiB")
	if len(body) > 1<<20 {
		t.Errorf("%d bytes were written", len(body))
	}
}

// TestFetch_CompressedNothingForEver: empty blocks and empty members take bytes
// and give none, so a limit on what comes out would never strike.
func TestFetch_CompressedNothingForEver(t *testing.T) {
	header := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}
	for name, piece := range map[string][]byte{
		"blocks":  {0, 0, 0, 0xff, 0xff},
		"members": zipped(t, nil),
	} {
		base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			if name == "blocks" {
				w.Write(header)
			}
			for pieces := bytes.Repeat(piece, 1000); ; {
				if _, err := w.Write(pieces); err != nil {
					return
				}
			}
		})
		_, body, err := fetch(t, newGuard(Options{}), base, 10_000)
		wantRefusal(t, err, "larger than 10000 bytes")
		if len(body) != 0 {
			t.Errorf("%s: got %d bytes", name, len(body))
		}
	}
}

func TestFetch_RefusesBrokenFiles(t *testing.T) {
	whole := zipped(t, []byte(strings.Repeat("words and words ", 1000)))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	garbled := append(bytes.Clone(whole[:10]), bytes.Repeat([]byte{0xff}, 50)...)
	for reason, bodies := range map[string][][]byte{
		"the compressed file is damaged": {flipped, garbled, []byte("this is not compressed at all")},
		"the file is incomplete":         {whole[:len(whole)-4], whole[:len(whole)/2], whole[:5]},
	} {
		for _, body := range bodies {
			_, _, err := fetch(t, newGuard(Options{}), encoded(t, "gzip", body), 1<<20)
			wantRefusal(t, err, reason)
		}
	}
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n",
	} {
		_, _, err := fetch(t, newGuard(Options{}), serveRaw(t, answer), 1000)
		wantRefusal(t, err, "the file is incomplete")
	}
	for _, answer := range []string{"", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nbad header\r\n\r\n"} {
		_, _, err := fetch(t, newGuard(Options{}), serveRaw(t, answer), 1000)
		wantRefusal(t, err, "no proper answer")
	}
}

// serveRaw answers every connection with these bytes and closes it.
func serveRaw(t *testing.T, answer string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, answer)
		conn.Close()
	})
}

func TestFetch_DoesNotBlameTheURLForAFullDisk(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1000)) })
	full := errors.New("no space left on device")
	_, err := newGuard(Options{}).Fetch(t.Context(), base, 1000, failingWriter{full})
	var e *Error
	if !errors.Is(err, full) || errors.As(err, &e) {
		t.Errorf("got %v (%T)", err, err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestFetch_PermitsNothingWithoutALimit(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("x")) })
	_, body, err := fetch(t, newGuard(Options{}), base, 0)
	wantRefusal(t, err, "larger than 0 bytes")
	if len(body) != 0 {
		t.Errorf("got %q", body)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte("plain"), "", int64(3))
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1, 0, 0, 0xff, 0xff}, "gzip", int64(100))
	f.Fuzz(func(t *testing.T, body []byte, encoding string, limit int64) {
		fuzzbudget.Usual.Check(t, len(body)+len(encoding), func() {
			var w bytes.Buffer
			resp := &http.Response{
				Header:        http.Header{"Content-Encoding": {encoding}},
				Body:          io.NopCloser(bytes.NewReader(body)),
				ContentLength: -1,
			}
			n, err := receive(&w, resp, limit)
			if int64(w.Len()) != n || int64(w.Len()) > max(limit, 0) {
				t.Fatalf("wrote %d, said %d, limit %d, %v", w.Len(), n, limit, err)
			}
		})
	})
}

// Of a file that is too large only the beginning is taken, however large it says it is.
func TestFetchBeginning_TakesNoMore(t *testing.T) {
	file := bytes.Repeat([]byte("words and words "), 20_000)
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/length":
			w.Header().Set("Content-Length", "10000000000")
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped(t, file))
			return
		case "/moved":
			http.Redirect(w, r, "/chunked", http.StatusFound)
			return
		case "/none":
			http.NotFound(w, r)
			return
		}
		w.Write(file)
	})
	g := newGuard(Options{})
	for path, from := range map[string]string{"/length": "/length", "/chunked": "/chunked", "/gzip": "/gzip", "/moved": "/chunked"} {
		var b bytes.Buffer
		result, err := g.FetchBeginning(t.Context(), base+path, 100_000, &b)
		if err != nil || b.Len() > 100_000 || b.Len() < 30_000 || !bytes.HasPrefix(file, b.Bytes()) || result.Size != int64(b.Len()) || result.URL != base+from {
			t.Errorf("%s: %d bytes as %+v, %v", path, b.Len(), result, err)
		}
		b.Reset()
		if result, err := g.FetchBeginning(t.Context(), base+path, 1<<20, &b); path != "/length" && (err != nil || !bytes.Equal(b.Bytes(), file)) {
			t.Errorf("%s, whole: %d bytes as %+v, %v", path, b.Len(), result, err)
		}
	}
	_, err := g.FetchBeginning(t.Context(), base+"/none", 100, io.Discard)
	wantRefusal(t, err, "404")
}
