package urlguard

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestFetch_StreamsAFile(t *testing.T) {
	file := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("User-Agent") != "bridged/test" || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("unexpected headers: %v", r.Header)
		}
		w.Header().Set("Content-Type", "Image/PNG")
		w.Header().Set("Content-Disposition", `attachment; filename="cat.png"`)
		w.Write(file)
	})
	g := newGuard(Options{UserAgent: "bridged/test"})
	result, got, err := fetch(t, g, base+"/download?id=7", int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Result{ContentType: "image/png", FileName: "cat.png", IsNamed: true, Size: int64(len(file)), URL: base + "/download?id=7"}); result != want {
		t.Errorf("got %+v, want %+v", result, want)
	}
	if !bytes.Equal(got, file) {
		t.Error("the file arrived changed")
	}
}

func TestFetch_AcceptsOnlySuccess(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
	})
	g := newGuard(Options{})
	for _, status := range []int{200, 201, 203, 204} {
		if _, body, err := fetch(t, g, fmt.Sprintf("%s/%d", base, status), 10); err != nil || len(body) != 0 {
			t.Errorf("%d: got %q, %v", status, body, err)
		}
	}
	for status, reason := range map[int]string{
		206: "answered 206 Partial Content", 300: "answered 300", 301: "answered 301", 304: "answered 304", 307: "answered 307",
		401: "answered 401", 403: "answered 403", 404: "answered 404 Not Found", 429: "answered 429", 500: "answered 500", 599: "answered 599",
	} {
		_, _, err := fetch(t, g, fmt.Sprintf("%s/%d?key=hunter2", base, status), 10)
		wantRefusal(t, err, reason)
	}
}

// hops redirects as often as the path says, then serves a file.
func hops(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Path[1:])
	if n > 0 {
		http.Redirect(w, r, strconv.Itoa(n-1)+"?key=hunter2", http.StatusFound)
		return
	}
	fmt.Fprintf(w, "referer=%q cookie=%q", r.Header.Get("Referer"), r.Header.Get("Cookie"))
}

func TestFetch_FollowsFiveRedirects(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		hops(w, r)
	})
	g := newGuard(Options{})
	_, body, err := fetch(t, g, base+"/5?key=hunter2", 1000)
	if err != nil {
		t.Fatal(err)
	}
	if want := `referer="" cookie=""`; string(body) != want {
		t.Errorf("got %s, want %s: one server's secrets are not the next one's", body, want)
	}
	_, _, err = fetch(t, g, base+"/6", 1000)
	wantRefusal(t, err, "more than 5 redirects")
	_, _, err = fetch(t, g, base+"/1000000", 1000)
	wantRefusal(t, err, "more than 5 redirects")
}

func TestFetch_NamesTheFileAfterTheLastURL(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first.jpg" {
			w.Header().Set("Location", "/dir/l%C3%A4st%20one.png?x=/y.gif")
			w.WriteHeader(http.StatusSeeOther)
		}
	})
	result, _, err := fetch(t, newGuard(Options{}), base+"/first.jpg", 10)
	if err != nil || result.FileName != "läst one.png" {
		t.Errorf("got %q, %v", result.FileName, err)
	}
}

// trust makes a guard believe a test server's certificate, and nothing else.
func trust(g *Guard, s *httptest.Server) *Guard {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	g.tlsConfig = &tls.Config{RootCAs: pool}
	return g
}

func TestFetch_TLS(t *testing.T) {
	s := unstarted(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://"+r.Host+"/", http.StatusFound)
			return
		}
		fmt.Fprint(w, r.Proto)
	})
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	o := Options{Resolver: addrs(allowedIP)}
	url := "https://example.com:" + portOf(t, s.URL) // the name on httptest's certificate

	_, body, err := fetch(t, trust(newGuard(o), s), url, 1000)
	if err != nil || string(body) != "HTTP/2.0" {
		t.Errorf("got %q, %v", body, err)
	}
	_, _, err = fetch(t, trust(newGuard(o), s), url+"/down", 1000)
	wantRefusal(t, err, "redirects from https to http")
	_, _, err = fetch(t, newGuard(o), url, 1000)
	wantRefusal(t, err, "certificate is not valid")
	_, _, err = fetch(t, trust(newGuard(o), s), strings.Replace(url, "example.com", "example.org", 1), 1000)
	wantRefusal(t, err, "certificate is not valid")

	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, _, err = fetch(t, newGuard(o), strings.Replace(plain, "http:", "https:", 1), 1000)
	wantRefusal(t, err, "no proper answer")
}

func TestFetch_HTTP2RebindingIsSeen(t *testing.T) {
	s := unstarted(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) })
	s.EnableHTTP2 = true
	s.StartTLS()
	ns := newNameServer(t)
	ns.set("example.com", addrs(allowedIP), addrs(canaryIP))
	g := trust(newGuard(Options{Resolver: ns.resolver()}), s)
	_, _, err := fetch(t, g, "https://example.com:"+portOf(t, s.URL)+"/", 1000)
	wantRefusal(t, err, saysNotPublic)
}

func TestFetch_RefusesEndlessHeaders(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("a", 2*64<<10))
	})
	_, _, err := fetch(t, newGuard(Options{}), base, 1000)
	wantRefusal(t, err, "no proper answer")
}

// TestFetch_TimesOut lets the other side fall silent at every stage.
func TestFetch_TimesOut(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.Write([]byte("the first few bytes"))
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	})
	mute := listen(t, allowedIP)
	defer mute.Close()
	for name, c := range map[string]struct {
		url      string
		resolver Resolver
	}{
		"look-up": {"http://slow.example.com/", stalledResolver{}},
		"headers": {base + "/headers", nil},
		"body":    {base + "/body", nil},
		"hello":   {"http://" + mute.Addr().String() + "/", nil},
		"tls":     {"https://" + mute.Addr().String() + "/", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := fetch(t, newGuard(Options{Timeout: shortly, Resolver: c.resolver}), c.url, 1000)
			wantRefusal(t, err, "no complete answer within 0.1 seconds")
		})
	}
}

type stalledResolver struct{}

func (stalledResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestFetch_NothingOutlivesIt: the transport detaches dials and handshakes from
// their request, so a connection that hangs in one must be ended by us.
func TestFetch_NothingOutlivesIt(t *testing.T) {
	mute := listen(t, allowedIP)
	defer mute.Close()
	_, _, err := fetch(t, newGuard(Options{Timeout: time.Second}), "https://"+mute.Addr().String()+"/", 1000)
	wantRefusal(t, err, "no complete answer")
	conn, err := mute.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Error("the connection was still open after the fetch had ended")
	}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func TestFetch_TellsTheCallersEndFromItsOwn(t *testing.T) {
	begun := make(chan struct{}, 1)
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("begun"))
		w.(http.Flusher).Flush()
		begun <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := newGuard(Options{}).Fetch(ctx, base, 1000, io.Discard)
	wantStopped(t, err, context.Canceled)

	ctx, cancel = context.WithTimeout(t.Context(), shortly)
	defer cancel()
	_, err = newGuard(Options{}).Fetch(ctx, base, 1000, io.Discard)
	wantStopped(t, err, context.DeadlineExceeded)

	_, err = newGuard(Options{}).Fetch(ctx, base, 1000, io.Discard)
	wantStopped(t, err, context.DeadlineExceeded)
	_, err = newGuard(Options{}).Fetch(ctx, "http://10.0.0.1/", 1000, io.Discard)
	wantRefusal(t, err, saysNotPublic)
}

func wantStopped(t *testing.T, err, cause error) {
	t.Helper()
	var e *Error
	if !errors.Is(err, cause) || errors.As(err, &e) {
		t.Errorf("got %v (%T), want %v and no *Error", err, err, cause)
	}
}

func TestFetch_AtMostFourAtOnce(t *testing.T) {
	var running, most atomic.Int32
	arrived, leave := make(chan struct{}, 12), make(chan struct{})
	base := serve(t, func(http.ResponseWriter, *http.Request) {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		arrived <- struct{}{}
		<-leave
		running.Add(-1)
	})
	g := newGuard(Options{})
	results := make(chan error)
	for range 12 {
		go func() {
			_, err := g.Fetch(t.Context(), base, 10, io.Discard)
			results <- err
		}()
	}
	for range 4 {
		<-arrived
	}
	close(leave)
	for range 12 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := most.Load(); n != 4 {
		t.Errorf("%d fetches ran at once, want 4", n)
	}
}

func TestAdmit_TheFifthWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		for range 4 {
			if err := g.admit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		err := g.admit(t.Context())
		wantRefusal(t, err, "too many other files")
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("it waited %v", waited)
		}

		admitted := make(chan error)
		go func() { admitted <- g.admit(t.Context()) }()
		synctest.Wait()
		select {
		case <-admitted:
			t.Fatal("a fifth was admitted")
		default:
		}
		g.slots.Release(1)
		if err := <-admitted; err != nil {
			t.Error(err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = g.admit(ctx)
		wantStopped(t, err, context.Canceled)
	})
}

func TestFetch_GivesItsPlaceBackWhateverHappens(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	g := newGuard(Options{MaxConcurrent: 1})
	for range 3 {
		_, _, err := fetch(t, g, base, 10)
		wantRefusal(t, err, "418")
		_, _, err = fetch(t, g, "http://127.0.0.1/", 10)
		wantRefusal(t, err, saysNotPublic)
	}
	if !g.slots.TryAcquire(1) {
		t.Error("the place is still taken")
	}
}

// TestError_KeepsItsCauseForTheLog: the sentence is for callers, what is behind
// it is not.
func TestError_KeepsItsCauseForTheLog(t *testing.T) {
	gone := listen(t, allowedIP)
	gone.Close()
	_, _, err := fetch(t, newGuard(Options{}), "http://"+gone.Addr().String()+"/?key=hunter2", 10)
	wantRefusal(t, err, "could not be reached")
	cause := errors.Unwrap(err)
	if cause == nil || !strings.Contains(cause.Error(), "refused") {
		t.Errorf("the cause is %v", cause)
	}
	if strings.Contains(cause.Error(), "hunter2") {
		t.Errorf("the cause gives the URL away: %v", cause)
	}
}
