package media

import (
	"context"
	"encoding/base64"
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

	"bridged/internal/bridge"
)

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
	for _, path := range []string{
		"v/x.enc", "@" + other + "/x", ":1@" + other + "/x", "https://" + other + "/x", ".evil.example/x",
		"/x#y", "/x\\y", "/x\x00y", "/x\r\ny", "/%zz",
	} {
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
				c.opts.CDN.downloadIdle = 2 * time.Second
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
				c.opts.CDN.downloadIdle = 500 * time.Millisecond
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
	c.opts.CDN.pause = time.Hour // another host needs no pause
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
	m.Media.Size = c.opts.MaxFile + 1
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
	if err := d.wait(t.Context(), 1, statusError{status: 503, after: time.Millisecond}); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("waited %s: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.wait(ctx, 1, errStalled); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
