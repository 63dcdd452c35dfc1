// Package mediatest helps to test the packages of media: sample files, a media server, full disks.
package mediatest

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

	"bridged/internal/bridge"
)

// CDN plays the network's media servers, and the account's side of them.
type CDN struct {
	t      testing.TB
	Server *httptest.Server
	Hosts  []string
	Closed error // what MediaConn fails with
	// onReupload answers for the phone; nil if it has lost the file.
	OnReupload func(ctx context.Context, m bridge.Message) (string, error)

	mu       sync.Mutex
	files    map[string][]byte // by path; guarded by mu
	before   http.HandlerFunc  // runs first, and replaces the answer if it writes one; guarded by mu
	Requests []*http.Request   // guarded by mu
	asked    int               // guarded by mu
}

func NewCDN(t testing.TB) *CDN {
	cdn := &CDN{t: t, files: map[string][]byte{}}
	cdn.Server = httptest.NewTLSServer(cdn)
	t.Cleanup(cdn.Server.Close)
	t.Cleanup(cdn.Server.CloseClientConnections) // of stalled requests
	cdn.Hosts = []string{cdn.Server.Listener.Addr().String()}
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

func (c *CDN) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.Requests = append(c.Requests, r)
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

// Authority returns the authority of the servers' certificates.
func (c *CDN) Authority() *x509.CertPool {
	authority := x509.NewCertPool()
	authority.AddCert(c.Server.Certificate())
	return authority
}

func (c *CDN) MediaConn(context.Context, bool) (bridge.MediaConn, error) {
	return bridge.MediaConn{Hosts: c.Hosts}, c.Closed
}

func (c *CDN) Reupload(ctx context.Context, m bridge.Message) (string, error) {
	c.mu.Lock()
	c.asked++
	c.mu.Unlock()
	if c.OnReupload == nil {
		return "", bridge.Fail(bridge.CodeMediaGone, "the phone has lost it too")
	}
	return c.OnReupload(ctx, m)
}

// Serve makes do run before every request; if it writes an answer, that is the answer.
func (c *CDN) Serve(do http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = do
}

// Keep stores encrypted bytes at a path; nil removes them.
func (c *CDN) Keep(path string, encrypted []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = encrypted
}

// File returns the encrypted bytes at a path; nil without any.
func (c *CDN) File(path string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files[path]
}

// Send puts a file on the CDN and returns the message that carries it.
func (c *CDN) Send(kind bridge.MediaType, plain []byte) bridge.Message {
	m, encrypted := EncryptedMedia(c.t, kind, plain)
	hash := sha256.Sum256(encrypted)
	path := "/v/" + hex.EncodeToString(hash[:8]) + ".enc"
	c.Keep(path, encrypted)
	m.Ref.DirectPath = path + "?ccb=11-4&oh=01"
	return bridge.Message{
		Chat: "15551234567@s.whatsapp.net", ID: "3EB0" + hex.EncodeToString(hash[:4]), Media: m,
		Timestamp: bridge.At(time.Date(2026, 11, 21, 8, 15, 30, 0, time.UTC)),
	}
}

func PlainPath(directPath string) string {
	path, _, _ := strings.Cut(directPath, "?")
	return path
}

func (c *CDN) Downloads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.Requests)
}

func (c *CDN) Questions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// Stall sends half of a file and then nothing, until the client gives up.
func (c *CDN) Stall(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	data := c.files[r.URL.Path]
	c.mu.Unlock()
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data[:len(data)/2])
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// Times returns a handler that calls do for the first n requests only.
func Times(n int, do http.HandlerFunc) http.HandlerFunc {
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

func Status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
