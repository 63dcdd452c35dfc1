package front

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestCallers_TrustTheProxyAlone(t *testing.T) {
	public := []*url.URL{{Scheme: "https", Host: "bridge.example.com"}}
	for name, c := range map[string]struct{ peer, host, forwarded, want string }{
		"no proxy":                        {"203.0.113.9:5000", "bridge.example.com", "", "203.0.113.9"},
		"the proxy's word":                {"127.0.0.1:5000", "bridge.example.com", "198.51.100.1, 203.0.113.7", "203.0.113.7"},
		"with a port in the host":         {"[::1]:5000", "bridge.example.com:443", "2001:db8::7", "2001:db8::7"},
		"not through the proxy's name":    {"127.0.0.1:5000", "127.0.0.1:8080", "203.0.113.7", "127.0.0.1"},
		"an address from elsewhere":       {"203.0.113.9:5000", "bridge.example.com", "10.0.0.1", "203.0.113.9"},
		"a proxy that does not forward":   {"172.17.0.1:5000", "bridge.example.com", "", "172.17.0.1"},
		"a word that is no address":       {"172.17.0.1:5000", "bridge.example.com", "unknown", "172.17.0.1"},
		"an IPv4 address written as IPv6": {"[::ffff:127.0.0.1]:5000", "bridge.example.com", "::ffff:203.0.113.7", "203.0.113.7"},
		"another part of the process":     {inProcess, "in-process", "203.0.113.7", inProcess},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr, r.Host = c.peer, c.host
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		got := ""
		Callers(public, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = callerOf(r) })).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: the caller is %s, want %s", name, got, c.want)
		}
	}
}

// The log shows who is refused, and polls do not fill it.
func TestAccessLine_HasItsLevel(t *testing.T) {
	for _, c := range []struct {
		path   string
		status int
		peer   string
		want   string
	}{
		{"/api/chats", http.StatusOK, "203.0.113.9:5000", "info"},
		{"/api/chats", http.StatusUnauthorized, "203.0.113.9:5000", "warn"},
		{"/api/chats", http.StatusNotFound, "203.0.113.9:5000", "info"},
		{"/readyz", http.StatusOK, "203.0.113.9:5000", "debug"},
		{"/readyz", http.StatusServiceUnavailable, "203.0.113.9:5000", "info"},
		{"/api/events", http.StatusOK, "203.0.113.9:5000", "debug"},
		{"/api/auth/status", http.StatusOK, "203.0.113.9:5000", "debug"},
		{"/api/chats", http.StatusOK, inProcess, "debug"},
		{"/api/chats", http.StatusOK, "nats", "info"},
	} {
		var log bytes.Buffer
		handler := Observe(http.NotFoundHandler(), zerolog.New(&log), func(r *http.Request, _, size int, took time.Duration) {
			Accessed(AccessLine(r, c.status), r, c.status, size, took).Msg("request")
		}, nil)
		r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
		r.RemoteAddr = c.peer
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if line := log.String(); !strings.Contains(line, `"level":"`+c.want+`"`) || !strings.Contains(line, `"caller":"`+callerOf(r)+`"`) {
			t.Errorf("%s %d from %s: %s, want level %s", c.path, c.status, c.peer, line, c.want)
		}
	}
}
