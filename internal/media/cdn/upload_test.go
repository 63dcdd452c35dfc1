package cdn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

// hosts plays several media servers. Each has its own answers, given one after the
// other; the last one is repeated.
type hosts struct {
	cdn     *Client
	t       *testing.T
	servers []*httptest.Server
	over    chan struct{} // closed with the test: ends what stalls

	mu        sync.Mutex
	asked     []string // host and auth of every request; guarded by mu
	refreshed int      // guarded by mu
}

// answer is what a media server does with an upload.
type answer func(w http.ResponseWriter, r *http.Request)

func taken(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	token := base64.URLEncoding.EncodeToString(sum[:])
	right := r.Method == http.MethodPost && r.URL.Path == "/mms/video/"+token && r.URL.Query().Get("token") == token &&
		r.Header.Get("Origin") == "https://web.whatsapp.com" && r.Header.Get("Referer") == "https://web.whatsapp.com/" && r.ContentLength == int64(len(body))
	if err != nil || !right {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintf(w, `{"url":"https://%s/v/x","direct_path":"/v/x?ccb=1","handle":"h"}`, r.Host)
}

func refuses(code int) answer { return answer(mediatest.Status(code)) }

func newHosts(t *testing.T, answers ...[]answer) *hosts {
	h := &hosts{t: t, over: make(chan struct{})}
	for i, mine := range answers {
		next := 0
		h.servers = append(h.servers, httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.mu.Lock()
			h.asked = append(h.asked, fmt.Sprint(i, " ", r.URL.Query().Get("auth")))
			now := mine[min(next, len(mine)-1)]
			next++
			h.mu.Unlock()
			now(w, r)
		})))
		t.Cleanup(h.servers[i].Close)
	}
	t.Cleanup(func() { close(h.over) }) // before the servers are
	authority := x509.NewCertPool()
	authority.AddCert(h.servers[0].Certificate())
	h.cdn = New(Options{Authority: authority, TempDir: t.TempDir(), Log: zerolog.Nop()})
	h.cdn.pause = time.Millisecond
	t.Cleanup(h.cdn.client.CloseIdleConnections)
	return h
}

func (h *hosts) conn(_ context.Context, refresh bool) (bridge.MediaConn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if refresh {
		h.refreshed++
	}
	conn := bridge.MediaConn{Auth: fmt.Sprint("auth", h.refreshed)}
	for _, server := range h.servers {
		conn.Hosts = append(conn.Hosts, strings.TrimPrefix(server.URL, "https://"))
	}
	return conn, nil
}

func (h *hosts) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// send uploads a file, and checks that the temporary directory is empty afterwards.
func (h *hosts) send(ctx context.Context) (bridge.UploadedFile, error) {
	h.t.Helper()
	path := filepath.Join(h.t.TempDir(), "plain")
	if err := os.WriteFile(path, bytes.Repeat([]byte("film "), 100_000), 0o600); err != nil {
		h.t.Fatal(err)
	}
	up, err := h.cdn.Upload(ctx, h.conn, bridge.File{Type: bridge.MediaVideo, Path: path})
	if left, dirErr := os.ReadDir(h.cdn.tempDir); dirErr != nil || len(left) > 0 {
		h.t.Errorf("left behind: %v, %v", left, dirErr)
	}
	return up, err
}

func TestUpload_FindsAHostThatTakesTheFile(t *testing.T) {
	for name, c := range map[string]struct {
		answers [][]answer
		asked   []string
	}{
		"first":               {[][]answer{{taken}, {taken}}, []string{"0 auth0"}},
		"second":              {[][]answer{{refuses(500)}, {taken}}, []string{"0 auth0", "1 auth0"}},
		"busy":                {[][]answer{{refuses(503), refuses(429), taken}}, []string{"0 auth0", "0 auth0", "0 auth0"}},
		"last of many":        {[][]answer{{refuses(500)}, {refuses(502)}, {refuses(503)}, {refuses(500)}, {taken}}, []string{"0 auth0", "1 auth0", "2 auth0", "3 auth0", "4 auth0"}},
		"credentials ran out": {[][]answer{{refuses(401), taken}}, []string{"0 auth0", "0 auth1"}},
		"forbidden":           {[][]answer{{refuses(500)}, {refuses(403), taken}}, []string{"0 auth0", "1 auth0", "1 auth1"}},
		"nonsense at first":   {[][]answer{{func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, taken}}, []string{"0 auth0", "0 auth0"}},
		"no path at first":    {[][]answer{{func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, taken}}, []string{"0 auth0", "0 auth0"}},
		"elsewhere": {[][]answer{{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.org/", http.StatusTemporaryRedirect)
		}, taken}}, []string{"0 auth0", "0 auth0"}},
		"hung up": {[][]answer{{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, taken}}, []string{"0 auth0", "0 auth0"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHosts(t, c.answers...)
			up, err := h.send(t.Context())
			if err != nil || up.DirectPath != "/v/x?ccb=1" || !strings.HasPrefix(up.URL, "https://127.0.0.1") || up.Size != 500_000 {
				t.Errorf("%+v, %v", up, err)
			}
			if asked := h.requests(); fmt.Sprint(asked) != fmt.Sprint(c.asked) {
				t.Errorf("asked %v, want %v", asked, c.asked)
			}
		})
	}
}

func TestUpload_GivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		answers [][]answer
		code    bridge.Code
		tries   int
	}{
		"no host works":          {[][]answer{{refuses(500)}, {refuses(503)}}, bridge.CodeNotConnected, 3},
		"never allowed":          {[][]answer{{refuses(403)}}, bridge.CodeSendRefused, 2},
		"the file is not wanted": {[][]answer{{refuses(413)}, {taken}}, bridge.CodeSendRefused, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHosts(t, c.answers...)
			if _, err := h.send(t.Context()); bridge.CodeOf(err) != c.code || strings.Contains(err.Error(), "auth0") {
				t.Errorf("%v, want %s", err, c.code)
			}
			if len(h.requests()) != c.tries {
				t.Errorf("asked %v", h.requests())
			}
		})
	}
}

func TestUpload_LeavesAHostThatStalls(t *testing.T) {
	var h *hosts
	stalls := func(http.ResponseWriter, *http.Request) { <-h.over }
	h = newHosts(t, []answer{stalls}, []answer{taken})
	h.cdn.uploadIdle = 3 * time.Second
	if _, err := h.send(t.Context()); err != nil || len(h.requests()) != 2 {
		t.Errorf("%v after %v", err, h.requests())
	}
}

// The end of the program is reported as such, not as a failure.
func TestUpload_EndsWithTheProgram(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var h *hosts
	h = newHosts(t, []answer{func(http.ResponseWriter, *http.Request) {
		stop()
		<-h.over
	}})
	if _, err := h.send(ctx); !errors.Is(err, context.Canceled) || len(h.requests()) != 1 {
		t.Errorf("%v after %v", err, h.requests())
	}
}

func TestUpload_WithoutADirectory(t *testing.T) {
	h := newHosts(t, []answer{taken})
	h.cdn.tempDir = filepath.Join(t.TempDir(), "none")
	_, err := h.cdn.Upload(t.Context(), h.conn, bridge.File{Type: bridge.MediaVideo})
	if bridge.CodeOf(err) != bridge.CodeStorageUnavailable || len(h.requests()) != 0 {
		t.Errorf("%v after %v", err, h.requests())
	}
}

func TestDownload_HonoursRetryAfter(t *testing.T) {
	d := Client{pause: time.Minute}
	began := time.Now()
	if err := d.wait(t.Context(), 1, statusError{status: 503, after: time.Millisecond}); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("waited %s: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.wait(ctx, 1, errStalled); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
