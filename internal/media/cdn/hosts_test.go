package cdn

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
	"bridged/internal/urlguard"
)

// newCanary listens on loopback, fails the test when anybody connects, and returns
// its address.
func newCanary(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Errorf("%s connected to the canary", conn.RemoteAddr())
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		listening.Wait()
	})
	return listener.Addr().String()
}

// nameServer resolves every name to one address.
type nameServer netip.Addr

func (n nameServer) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.Addr(n)}, nil
}

// named plays an account whose network names these hosts.
type named []string

func (n named) MediaConn(context.Context, bool) (bridge.MediaConn, error) {
	return bridge.MediaConn{Hosts: n, Auth: "right"}, nil
}

// account names the media servers.
type account interface {
	MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error)
}

// everyWay uses each way to reach the CDN, and returns the errors.
func everyWay(t *testing.T, cdn *Client, account account, m bridge.Message) (failed map[string]error) {
	t.Helper()
	failed = map[string]error{}
	failed["download"] = Explain(t.Context(), cdn.Download(t.Context(), account.MediaConn, m.Media, m.Media.Ref.DirectPath, 1<<20, func(body io.Reader) error {
		_, err := Decrypt(io.Discard, body, m.Media)
		return err
	}))
	if there, err := cdn.Exists(t.Context(), account.MediaConn, m.Media); err != nil || !there {
		failed["probe"] = errors.Join(errors.New("not there"), err)
	}
	path := filepath.Join(t.TempDir(), "plain")
	mediatest.Write(t, path, []byte("plain"))
	_, failed["upload"] = cdn.Upload(t.Context(), account.MediaConn, bridge.File{Type: bridge.MediaImage, Path: path})
	return failed
}

// The real network names public hosts. Everything else is refused by its form, before
// anything is looked up.
func TestCDN_RefusesHostsByTheirForm(t *testing.T) {
	bird := newCanary(t)
	m, _ := mediatest.EncryptedMedia(t, bridge.MediaImage, []byte("hello"))
	m.Ref.DirectPath = "/v/x"
	cdn := New(Options{TempDir: t.TempDir(), Log: zerolog.Nop(), Resolver: nobody{t}})
	for _, host := range []string{
		"", bird, "127.0.0.1:1", "127.0.0.1", "8.8.8.8", "[::1]", "::1", "[2001:4860:4860::8888]", "localhost", "LOCALHOST", "db.internal",
		"user@" + bird, "user@evil.example", "user:pass@evil.example", "evil.example/path", "evil.example#", "evil.example?", "evil.example\\x", "evil.example:443",
		"evil.example ", " evil.example", "evil.example\r\nX: y", "evil%2eexample", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "１２７.0.0.1", "evil。example", "-", ".", "..", "a",
	} {
		t.Run(host, func(t *testing.T) {
			for way, err := range everyWay(t, cdn, named{host}, bridge.Message{ID: "3EB0", Media: m}) {
				if err == nil || way != "probe" && bridge.CodeOf(err) != bridge.CodeNotConnected {
					t.Errorf("%s: %v", way, err)
				}
			}
			if _, err := cdn.HTTPClient().Do(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: host, Path: "/"}}); err == nil {
				t.Error("the library's client asked")
			}
		})
	}
	for _, host := range []string{"mmg.whatsapp.net", "media-fra5-1.cdn.whatsapp.net", "media.fham3-1.fna.whatsapp.net"} {
		if err := cdn.checkHost(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// nobody is a resolver that must not be used.
type nobody struct{ t *testing.T }

func (n nobody) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	n.t.Errorf("%s was looked up", name)
	return nil, errors.New("no")
}

// A name that the network gives may have a private address. The client as it is used
// on the real network refuses it at the moment of connecting.
func TestCDN_ConnectsToNothingPrivate(t *testing.T) {
	bird := newCanary(t)
	_, port, err := net.SplitHostPort(bird)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"} {
		t.Run(address, func(t *testing.T) {
			cdn := New(Options{TempDir: t.TempDir(), Log: zerolog.Nop(), Resolver: nameServer(netip.MustParseAddr(address))})
			cdn.pause = 0
			m, _ := mediatest.EncryptedMedia(t, bridge.MediaImage, []byte("hello"))
			m.Ref.DirectPath = "/v/x"
			for way, err := range everyWay(t, cdn, named{"media.example"}, bridge.Message{ID: "3EB0", Media: m}) {
				if way == "probe" {
					continue // nobody knows: the recipient may try
				}
				if err == nil || !strings.Contains(err.Error(), "public") {
					t.Errorf("%s: %v", way, err)
				}
			}
			// The canary's port is none that a host of the real network has: past the form
			// of the URL, the dial of the same client refuses as well.
			dial := cdn.client.Transport.(*checkedTransport).DialContext
			var refused *urlguard.Error
			if conn, err := dial(t.Context(), "tcp", "media.example:"+port); !errors.As(err, &refused) {
				t.Errorf("dialled %v: %v", conn, err)
			}
		})
	}
}

// No use of the client follows a redirect: it is an answer without a file.
func TestCDN_FollowsNoRedirects(t *testing.T) {
	bird := newCanary(t)
	cdn := mediatest.NewCDN(t)
	m := cdn.Send(bridge.MediaImage, []byte("hello"))
	for _, code := range []int{301, 302, 303, 307, 308} {
		cdn.Serve(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+bird+"/x", code)
		})
		servers := New(Options{Authority: cdn.Authority(), TempDir: t.TempDir(), Pause: time.Millisecond, Log: zerolog.Nop()})
		failed := everyWay(t, servers, cdn, m)
		mediatest.WantCode(t, failed["download"], bridge.CodeMediaUnavailable)
		mediatest.WantCode(t, failed["upload"], bridge.CodeNotConnected)
		resp, err := servers.HTTPClient().Get(cdn.Server.URL + "/x")
		if err != nil || resp.StatusCode != code {
			t.Errorf("the library's client: %v, %v", resp, err)
			continue
		}
		_ = resp.Body.Close()
	}
}

// A proxy resolves the hosts itself. Hosts that are refused by their form still are.
func TestCDN_WithAProxy(t *testing.T) {
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	cdn := New(Options{Proxy: address, TempDir: t.TempDir(), Log: zerolog.Nop(), Resolver: nobody{t}})
	cdn.pause = 0
	m, _ := mediatest.EncryptedMedia(t, bridge.MediaImage, []byte("hello"))
	m.Ref.DirectPath = "/v/x"
	_, err = cdn.Exists(t.Context(), named{"127.0.0.1", "user@media.example", "media.example"}.MediaConn, m)
	if err != nil {
		t.Error(err)
	}
	close(asked)
	for what := range asked {
		if what != "CONNECT media.example:443" {
			t.Errorf("the proxy was asked for %s", what)
		}
	}
}

// Errors of the CDN end up in logs: none shows credentials or the place of a file.
func TestCDN_ErrorsShowNoAddress(t *testing.T) {
	var log strings.Builder
	cdn := New(Options{TempDir: t.TempDir(), Log: zerolog.New(&log), Resolver: nameServer(netip.MustParseAddr("10.0.0.1"))})
	cdn.pause = 0
	m, _ := mediatest.EncryptedMedia(t, bridge.MediaImage, []byte("hello"))
	m.Ref.DirectPath = "/v/secret-place"
	for way, err := range everyWay(t, cdn, named{"media.example"}, bridge.Message{ID: "3EB0", Media: m}) {
		if err != nil && (strings.Contains(err.Error(), "secret-place") || strings.Contains(err.Error(), "auth=")) {
			t.Errorf("%s: %v", way, err)
		}
	}
	if log.Len() == 0 || strings.Contains(log.String(), "secret-place") || strings.Contains(log.String(), "auth=") {
		t.Errorf("log: %s", log.String())
	}
}

func TestPictures_OnlyFromTheNetworksHosts(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "x", "@evil.example/x", "/x#y", "/\\evil.example"} {
		if address, err := placeURL("mmg.whatsapp.net", path, nil, ""); err == nil {
			t.Errorf("%q leads to %s", path, address)
		}
	}
}
