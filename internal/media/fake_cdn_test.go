package media

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// fakeCDN plays the network's media servers, and the account's side of them.
type fakeCDN struct {
	t      testing.TB
	server *httptest.Server
	hosts  []string
	closed error // what MediaConn fails with
	// reupload is the phone.
	reupload func(ctx context.Context, m bridge.Message) (string, error)

	mu       sync.Mutex
	files    map[string][]byte // by path; guarded by mu
	before   http.HandlerFunc  // runs first, and replaces the answer if it writes one; guarded by mu
	requests []*http.Request   // guarded by mu
	asked    int               // guarded by mu
}

func newCDN(t testing.TB) *fakeCDN {
	cdn := &fakeCDN{t: t, files: map[string][]byte{}}
	cdn.server = httptest.NewTLSServer(cdn)
	t.Cleanup(cdn.server.Close)
	t.Cleanup(cdn.server.CloseClientConnections) // for those that stall
	cdn.hosts = []string{cdn.server.Listener.Addr().String()}
	return cdn
}

// wroteWriter records whether anything was written.
type wroteWriter struct {
	http.ResponseWriter
	wrote bool
}

func (w *wroteWriter) WriteHeader(status int) { w.wrote = true; w.ResponseWriter.WriteHeader(status) }

func (w *wroteWriter) Write(b []byte) (int, error) { w.wrote = true; return w.ResponseWriter.Write(b) }
func (w *wroteWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (c *fakeCDN) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests = append(c.requests, r)
	before, data, found := c.before, c.files[r.URL.Path], c.files[r.URL.Path] != nil
	c.mu.Unlock()
	if before != nil {
		noted := &wroteWriter{ResponseWriter: w}
		if before(noted, r); noted.wrote {
			return
		}
	}
	if !found {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

// servers returns a client of these media servers.
func (c *fakeCDN) servers() *CDN {
	authority := x509.NewCertPool()
	authority.AddCert(c.server.Certificate())
	cdn := NewCDN(CDNOptions{Authority: authority, TempDir: c.t.TempDir(), Log: zerolog.Nop()})
	cdn.downloadIdle, cdn.pause = time.Minute, time.Millisecond
	c.t.Cleanup(cdn.client.CloseIdleConnections)
	return cdn
}

func (c *fakeCDN) MediaConn(context.Context, bool) (bridge.MediaConn, error) {
	return bridge.MediaConn{Hosts: c.hosts}, c.closed
}

func (c *fakeCDN) Reupload(ctx context.Context, m bridge.Message) (string, error) {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	if c.reupload == nil {
		return "", bridge.Fail(bridge.CodeMediaGone, "the phone has lost it too")
	}
	return c.reupload(ctx, m)
}

// serve makes do run before every request; if it writes an answer, that is the answer.
func (c *fakeCDN) serve(do http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = do
}

// keep stores encrypted bytes at a path; nil removes them.
func (c *fakeCDN) keep(path string, encrypted []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = encrypted
}

// send puts a file on the CDN and returns the message that carries it.
func (c *fakeCDN) send(kind bridge.MediaType, plain []byte) bridge.Message {
	m, encrypted := encryptedMedia(c.t, kind, plain)
	hash := sha256.Sum256(encrypted)
	path := "/v/" + hex.EncodeToString(hash[:8]) + ".enc"
	c.keep(path, encrypted)
	m.Ref.DirectPath = path + "?ccb=11-4&oh=01"
	return bridge.Message{
		Chat: "15551234567@s.whatsapp.net", ID: "3EB0" + hex.EncodeToString(hash[:4]), Media: m,
		Timestamp: bridge.At(time.Date(2026, 11, 21, 8, 15, 30, 0, time.UTC)),
	}
}

func plainPath(directPath string) string {
	path, _, _ := strings.Cut(directPath, "?")
	return path
}

func (c *fakeCDN) downloads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

func (c *fakeCDN) questions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// stall sends half of a file and then nothing, until the client gives up.
func (c *fakeCDN) stall(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	data := c.files[r.URL.Path]
	c.mu.Unlock()
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data[:len(data)/2])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// times returns a handler that calls do for the first n requests only.
func times(n int, do http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n--
		now := n >= 0
		mu.Unlock()
		if now {
			do(w, r)
		}
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
