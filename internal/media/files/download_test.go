package files

import (
	"context"
	"encoding/base64"
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
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

func TestDownload_EveryKind(t *testing.T) {
	for kind := range mediatest.Infos {
		for _, size := range []int{0, 1, 4096, chunk, 3*chunk + 5} {
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				c, fake := newTestCache(t, 1<<30)
				plain := mediatest.RandomBytes(size)
				m := fake.Send(kind, plain)
				wantFile(t, c, m, plain)
			})
		}
	}
}

func TestDownload_AsksAsTheNetworksClientsDo(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaSticker, []byte("hello"))
	wantFile(t, c, m, []byte("hello"))
	r := fake.Requests[0]
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
			c, fake := newTestCache(t, 1<<30)
			m := fake.Send(bridge.MediaImage, []byte("hello"))
			m.Media.Ref.DirectPath = path
			_, err := c.Open(t.Context(), m)
			mediatest.WantCode(t, err, bridge.CodeMediaInvalid)
			if n := fake.Downloads(); n != 0 {
				t.Errorf("%d requests for an unusable path", n)
			}
		})
	}
	// A path that looks like a host is a path.
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	fake.Serve(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+other+"/x", http.StatusFound)
	})
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaUnavailable)
	m.Media.Ref.DirectPath = "//" + other + "/x"
	fake.Serve(nil)
	_, err = c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaGone)
}

func TestDownload_RepeatsWhatMayPass(t *testing.T) {
	plain := mediatest.RandomBytes(5 * chunk)
	for name, fault := range map[string]func(*mediatest.CDN) http.HandlerFunc{
		"500": func(*mediatest.CDN) http.HandlerFunc { return mediatest.Status(500) },
		"503": func(*mediatest.CDN) http.HandlerFunc { return mediatest.Status(503) },
		"429": func(*mediatest.CDN) http.HandlerFunc { return mediatest.Status(429) },
		"closed at once": func(*mediatest.CDN) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		},
		"broken off": func(fake *mediatest.CDN) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(plain)))
				_, _ = w.Write(plain[:len(plain)/2])
			}
		},
		"stalled": func(fake *mediatest.CDN) http.HandlerFunc { return fake.Stall },
		"stalled from head": func(fake *mediatest.CDN) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, fake := newTestCache(t, 1<<30)
			if strings.HasPrefix(name, "stalled") {
				c.opts.CDN = connect(fake, cdn.Options{Idle: 2 * time.Second})
			}
			m := fake.Send(bridge.MediaVideo, plain)
			fake.Serve(mediatest.Times(2, fault(fake)))
			wantFile(t, c, m, plain)
			if n := fake.Downloads(); n != 3 {
				t.Errorf("%d tries, want 3", n)
			}
			mediatest.WantOnly(t, c.lru.dir, 1)
		})
		t.Run(name+" forever", func(t *testing.T) {
			c, fake := newTestCache(t, 1<<30)
			if strings.HasPrefix(name, "stalled") {
				c.opts.CDN = connect(fake, cdn.Options{Idle: 500 * time.Millisecond})
			}
			m := fake.Send(bridge.MediaVideo, plain)
			fake.Serve(fault(fake))
			_, err := c.Open(t.Context(), m)
			mediatest.WantCode(t, err, bridge.CodeMediaUnavailable)
			mediatest.WantOnly(t, c.lru.dir, 0)
			if strings.Contains(err.Error(), mediatest.PlainPath(m.Media.Ref.DirectPath)) {
				t.Errorf("the error shows where the file is: %v", err)
			}
		})
	}
}

func TestDownload_TriesTheHostsInTurn(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	c.opts.CDN = connect(fake, cdn.Options{Pause: time.Hour}) // another host needs no pause
	broken := mediatest.NewCDN(t)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	path := mediatest.PlainPath(m.Media.Ref.DirectPath)
	wrong := append([]byte(nil), fake.File(path)...)
	wrong[3] ^= 1
	broken.Keep(path, wrong)
	fake.Hosts = []string{"127.0.0.1:1", broken.Hosts[0], fake.Hosts[0]}
	wantFile(t, c, m, []byte("hello"))
	if n := broken.Downloads(); n != 1 {
		t.Errorf("the host with altered bytes was asked %d times", n)
	}
}

func TestDownload_DamageIsInvalid(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, mediatest.RandomBytes(chunk*2))
	path := mediatest.PlainPath(m.Media.Ref.DirectPath)
	whole := fake.File(path)
	flipped := append([]byte(nil), whole...)
	flipped[len(flipped)/2] ^= 1
	for name, encrypted := range map[string][]byte{"tampered": flipped, "truncated": whole[:len(whole)-16], "short": whole[:5], "empty": {}, "longer": append(append([]byte(nil), whole...), 1)} {
		t.Run(name, func(t *testing.T) {
			fake.Keep(path, encrypted)
			before := fake.Downloads()
			_, err := c.Open(t.Context(), m)
			mediatest.WantCode(t, err, bridge.CodeMediaInvalid)
			want := 1
			if name == "longer" {
				want = 2 // the message's size may be wrong: once more, up to the limit
			}
			if n := fake.Downloads() - before; n != want {
				t.Errorf("the only host was asked %d times for what it has wrong, want %d", n, want)
			}
			mediatest.WantOnly(t, c.lru.dir, 0)
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
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	fake.Serve(endless)
	for _, size := range []int64{m.Media.Size, 0} { // the message says, or not
		m.Media.Size = size
		_, err := c.Open(t.Context(), m)
		mediatest.WantCode(t, err, bridge.CodeMediaTooLarge)
	}

	fake.Serve(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "99999999999")
		w.WriteHeader(200)
	})
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaTooLarge)
	mediatest.WantOnly(t, c.lru.dir, 0)
}

// A row may claim any size: an impossible one counts as unknown.
func TestDownload_SizesThatAreNone(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	for i, size := range []int64{0, -1, math.MinInt64} {
		plain := mediatest.RandomBytes(1000 + i)
		m := fake.Send(bridge.MediaImage, plain)
		m.Media.Size = size
		wantFile(t, c, m, plain)
	}
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	m.Media.Size = math.MaxInt64
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaTooLarge)
}

func TestDownload_TooLargeIsNotFetched(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	m.Media.Size = c.opts.MaxFile + 1
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaTooLarge)
	if n := fake.Downloads(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestDownload_AsksThePhoneForWhatExpired(t *testing.T) {
	for _, code := range []int{403, 404, 410} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			c, fake := newTestCache(t, 1<<30)
			plain := mediatest.RandomBytes(chunk)
			m := fake.Send(bridge.MediaImage, plain)
			old := mediatest.PlainPath(m.Media.Ref.DirectPath)
			fake.Serve(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == old {
					w.WriteHeader(code)
				}
			})
			fake.OnReupload = func(_ context.Context, asked bridge.Message) (string, error) {
				if asked.ID != m.ID {
					t.Errorf("asked for message %s, want %s", asked.ID, m.ID)
				}
				fake.Keep("/v/new.enc", fake.File(old))
				return "/v/new.enc?ccb=1", nil
			}
			var wait sync.WaitGroup
			for range 20 {
				wait.Go(func() { wantFile(t, c, m, plain) })
			}
			wait.Wait()
			if n := fake.Questions(); n != 1 {
				t.Errorf("the phone was asked %d times", n)
			}
			if n := fake.Downloads(); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
}

func TestDownload_Gone(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	fake.Serve(mediatest.Status(http.StatusGone))
	_, err := c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaGone)

	// The phone says that it did, and the file is still not there.
	fake.OnReupload = func(context.Context, bridge.Message) (string, error) { return "/v/other.enc?a=b", nil }
	_, err = c.Open(t.Context(), m)
	mediatest.WantCode(t, err, bridge.CodeMediaGone)
	if n := fake.Questions(); n != 2 {
		t.Errorf("the phone was asked %d times for two requests", n)
	}
	mediatest.WantOnly(t, c.lru.dir, 0)
}

func TestDownload_WithoutAPathAsksThePhone(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	m := fake.Send(bridge.MediaImage, []byte("hello"))
	place := m.Media.Ref.DirectPath
	m.Media.Ref.DirectPath = ""
	fake.OnReupload = func(context.Context, bridge.Message) (string, error) { return place, nil }
	wantFile(t, c, m, []byte("hello"))
}

func TestDownload_NeedsTheSocket(t *testing.T) {
	c, fake := newTestCache(t, 1<<30)
	cached, other := fake.Send(bridge.MediaImage, []byte("hello")), fake.Send(bridge.MediaImage, []byte("other"))
	wantFile(t, c, cached, []byte("hello"))
	fake.Closed = bridge.NotConnected("the socket is not open")
	wantFile(t, c, cached, []byte("hello"))
	_, err := c.Open(t.Context(), other)
	mediatest.WantCode(t, err, bridge.CodeNotConnected)
}
