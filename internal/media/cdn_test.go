package media

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
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

func (w *wroteWriter) WriteHeader(status int)      { w.wrote = true; w.ResponseWriter.WriteHeader(status) }
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
	return bridge.Message{Chat: "15551234567@s.whatsapp.net", ID: "3EB0" + hex.EncodeToString(hash[:4]), Media: m,
		Timestamp: bridge.At(time.Date(2026, 11, 21, 8, 15, 30, 0, time.UTC))}
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

func wantCode(t *testing.T, err error, want bridge.Code) {
	t.Helper()
	var known *bridge.Error
	if !errors.As(err, &known) || known.Code != want {
		t.Errorf("got %v (%s), want %s", err, bridge.CodeOf(err), want)
	}
}

func TestDownload_EveryKind(t *testing.T) {
	for kind := range infos {
		for _, size := range []int{0, 1, 4096, chunkSize, 3*chunkSize + 5} {
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				c, cdn := newTestCache(t, 1<<30)
				plain := randomBytes(size)
				m := cdn.send(kind, plain)
				wantFile(t, c, m, plain)
			})
		}
	}
}

func TestDownload_AsksAsTheNetworksClientsDo(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaSticker, []byte("hello"))
	wantFile(t, c, m, []byte("hello"))
	r := cdn.requests[0]
	want := m.Media.Ref.DirectPath + "&hash=" + base64.URLEncoding.EncodeToString(m.Media.Ref.FileEncSHA256) + "&mms-type=image&__wa-mms="
	if r.RequestURI != want {
		t.Errorf("asked for %s, want %s", r.RequestURI, want)
	}
	if r.Header.Get("Origin") != "https://web.whatsapp.com" || r.Header.Get("Referer") != "https://web.whatsapp.com/" {
		t.Errorf("headers %v", r.Header)
	}
}

func TestDownload_OnlyFromTheNetworksHosts(t *testing.T) {
	canary := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer canary.Close()
	other := canary.Listener.Addr().String()
	for _, path := range []string{"v/x.enc", "@" + other + "/x", ":1@" + other + "/x", "https://" + other + "/x", ".evil.example/x",
		"/x#y", "/x\\y", "/x\x00y", "/x\r\ny", "/%zz"} {
		t.Run(path, func(t *testing.T) {
			c, cdn := newTestCache(t, 1<<30)
			m := cdn.send(bridge.MediaImage, []byte("hello"))
			m.Media.Ref.DirectPath = path
			_, err := c.Open(t.Context(), m)
			wantCode(t, err, bridge.CodeMediaInvalid)
			if n := cdn.downloads(); n != 0 {
				t.Errorf("%d requests for an unusable path", n)
			}
		})
	}
	// A path that looks like a host is a path.
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	cdn.serve(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+other+"/x", http.StatusFound)
	})
	_, err := c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaUnavailable)
	m.Media.Ref.DirectPath = "//" + other + "/x"
	cdn.serve(nil)
	_, err = c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaGone)
}

func TestDownload_RepeatsWhatMayPass(t *testing.T) {
	plain := randomBytes(5 * chunkSize)
	for name, fault := range map[string]func(*fakeCDN) http.HandlerFunc{
		"500": func(*fakeCDN) http.HandlerFunc { return status(500) },
		"503": func(*fakeCDN) http.HandlerFunc { return status(503) },
		"429": func(*fakeCDN) http.HandlerFunc { return status(429) },
		"closed at once": func(*fakeCDN) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		},
		"broken off": func(cdn *fakeCDN) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(plain)))
				_, _ = w.Write(plain[:len(plain)/2])
			}
		},
		"stalled": func(cdn *fakeCDN) http.HandlerFunc { return cdn.stall },
		"stalled from head": func(cdn *fakeCDN) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, cdn := newTestCache(t, 1<<30)
			if strings.HasPrefix(name, "stalled") {
				c.cdn.downloadIdle = 500 * time.Millisecond
			}
			m := cdn.send(bridge.MediaVideo, plain)
			cdn.serve(times(2, fault(cdn)))
			wantFile(t, c, m, plain)
			if n := cdn.downloads(); n != 3 {
				t.Errorf("%d tries, want 3", n)
			}
			wantOnly(t, c.lru.dir, 1)
		})
		t.Run(name+" forever", func(t *testing.T) {
			c, cdn := newTestCache(t, 1<<30)
			if strings.HasPrefix(name, "stalled") {
				c.cdn.downloadIdle = 500 * time.Millisecond
			}
			m := cdn.send(bridge.MediaVideo, plain)
			cdn.serve(fault(cdn))
			_, err := c.Open(t.Context(), m)
			wantCode(t, err, bridge.CodeMediaUnavailable)
			wantOnly(t, c.lru.dir, 0)
			if strings.Contains(err.Error(), plainPath(m.Media.Ref.DirectPath)) {
				t.Errorf("the error shows where the file is: %v", err)
			}
		})
	}
}

func TestDownload_TriesTheHostsInTurn(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	c.cdn.pause = time.Hour // another host needs no pause
	broken := newCDN(t)
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	path := plainPath(m.Media.Ref.DirectPath)
	wrong := append([]byte(nil), cdn.files[path]...)
	wrong[3] ^= 1
	broken.keep(path, wrong)
	cdn.hosts = []string{"127.0.0.1:1", broken.hosts[0], cdn.hosts[0]}
	wantFile(t, c, m, []byte("hello"))
	if n := broken.downloads(); n != 1 {
		t.Errorf("the host with altered bytes was asked %d times", n)
	}
}

func TestDownload_DamageIsInvalid(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaImage, randomBytes(chunkSize*2))
	path := plainPath(m.Media.Ref.DirectPath)
	whole := cdn.files[path]
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)/2] ^= 1
	for name, encrypted := range map[string][]byte{"tampered": flipped, "truncated": whole[:len(whole)-16], "short": whole[:5], "empty": {}, "longer": append(append([]byte(nil), whole...), 1)} {
		t.Run(name, func(t *testing.T) {
			cdn.keep(path, encrypted)
			before := cdn.downloads()
			_, err := c.Open(t.Context(), m)
			wantCode(t, err, bridge.CodeMediaInvalid)
			want := 1
			if name == "longer" {
				want = 2 // the message's size may be wrong: once more, up to the limit
			}
			if n := cdn.downloads() - before; n != want {
				t.Errorf("the only host was asked %d times for what it has wrong, want %d", n, want)
			}
			wantOnly(t, c.lru.dir, 0)
		})
	}
}

func TestDownload_BoundsWhatIsSent(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	cdn.serve(endless)
	for _, size := range []int64{m.Media.Size, 0} { // the message says, or not
		m.Media.Size = size
		_, err := c.Open(t.Context(), m)
		wantCode(t, err, bridge.CodeMediaTooLarge)
	}

	cdn.serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "99999999999")
		w.WriteHeader(200)
	})
	_, err := c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaTooLarge)
	wantOnly(t, c.lru.dir, 0)
}

// A row may claim any size: an impossible one counts as unknown.
func TestDownload_SizesThatAreNone(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	for i, size := range []int64{0, -1, math.MinInt64} {
		plain := randomBytes(1000 + i)
		m := cdn.send(bridge.MediaImage, plain)
		m.Media.Size = size
		wantFile(t, c, m, plain)
	}
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	m.Media.Size = math.MaxInt64
	_, err := c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaTooLarge)
}

func TestDownload_TooLargeIsNotFetched(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	m.Media.Size = c.maxFile + 1
	_, err := c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaTooLarge)
	if n := cdn.downloads(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestDownload_AsksThePhoneForWhatExpired(t *testing.T) {
	for _, code := range []int{403, 404, 410} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			c, cdn := newTestCache(t, 1<<30)
			plain := randomBytes(chunkSize)
			m := cdn.send(bridge.MediaImage, plain)
			old := plainPath(m.Media.Ref.DirectPath)
			cdn.serve(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == old {
					w.WriteHeader(code)
				}
			})
			cdn.reupload = func(_ context.Context, asked bridge.Message) (string, error) {
				if asked.ID != m.ID {
					t.Errorf("asked for message %s, want %s", asked.ID, m.ID)
				}
				cdn.keep("/v/new.enc", cdn.files[old])
				return "/v/new.enc?ccb=1", nil
			}
			var wait sync.WaitGroup
			for range 20 {
				wait.Go(func() { wantFile(t, c, m, plain) })
			}
			wait.Wait()
			if n := cdn.questions(); n != 1 {
				t.Errorf("the phone was asked %d times", n)
			}
			if n := cdn.downloads(); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
}

func TestDownload_Gone(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	cdn.serve(status(http.StatusGone))
	_, err := c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaGone)

	// The phone says that it did, and the file is still not there.
	cdn.reupload = func(context.Context, bridge.Message) (string, error) { return "/v/other.enc?a=b", nil }
	_, err = c.Open(t.Context(), m)
	wantCode(t, err, bridge.CodeMediaGone)
	if n := cdn.questions(); n != 2 {
		t.Errorf("the phone was asked %d times for two requests", n)
	}
	wantOnly(t, c.lru.dir, 0)
}

func TestDownload_WithoutAPathAsksThePhone(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	m := cdn.send(bridge.MediaImage, []byte("hello"))
	place := m.Media.Ref.DirectPath
	m.Media.Ref.DirectPath = ""
	cdn.reupload = func(context.Context, bridge.Message) (string, error) { return place, nil }
	wantFile(t, c, m, []byte("hello"))
}

func TestDownload_NeedsTheSocket(t *testing.T) {
	c, cdn := newTestCache(t, 1<<30)
	cached, other := cdn.send(bridge.MediaImage, []byte("hello")), cdn.send(bridge.MediaImage, []byte("other"))
	wantFile(t, c, cached, []byte("hello"))
	cdn.closed = bridge.NotConnected("the socket is not open")
	wantFile(t, c, cached, []byte("hello"))
	_, err := c.Open(t.Context(), other)
	wantCode(t, err, bridge.CodeNotConnected)
}

func TestDownload_HonoursRetryAfter(t *testing.T) {
	d := CDN{pause: time.Minute}
	began := time.Now()
	if err := d.wait(t.Context(), 1, &statusError{status: 503, after: time.Millisecond}); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("waited %s: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.wait(ctx, 1, errStalled); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
