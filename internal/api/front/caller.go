package front

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// Callers sets the RemoteAddr of requests to the address of the caller. A request from a loopback or
// private address with a Host in public comes from the operator's proxy, so its caller is the last
// address in X-Forwarded-For. Callers can write the other ones.
func Callers(public []*url.URL, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := addressOf(r); (at.IsLoopback() || at.IsPrivate()) && IsPublic(public, r.Host) {
			list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
			if caller, err := netip.ParseAddr(strings.TrimSpace(list[len(list)-1])); err == nil {
				r.RemoteAddr = netip.AddrPortFrom(caller.Unmap(), 0).String()
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Through marks the requests of next as calls through an entrance.
func Through(entrance bridge.Entrance, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(bridge.WithEntrance(r.Context(), entrance)))
	})
}

// addressOf returns the address of a request's caller, or the zero Addr if the request did not arrive
// over a connection.
func addressOf(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr)
	return at.Addr().Unmap()
}

// IsPublic reports whether a Host header names one of the operator's public addresses.
func IsPublic(public []*url.URL, host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return slices.ContainsFunc(public, func(u *url.URL) bool { return strings.EqualFold(u.Hostname(), name) })
}

// KnowsHost reports whether a Host header names this bridge: an IP address, localhost, or a public
// address. Another name could be one that a site has pointed here, to become the same origin (DNS
// rebinding).
func KnowsHost(public []*url.URL, host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || strings.HasSuffix(strings.ToLower(name), ".localhost") || IsPublic(public, host)
}

// polled lists the paths that programs request every few seconds.
var polled = []string{"/healthz", "/readyz", "/metrics", "/api/auth/status", "/api/events"}

// inProcess is the RemoteAddr of requests that other parts of the process make (client.InProcess).
const inProcess = "in-process"

// AccessLine returns the line of the access log for a request: a warning if the token was refused. It
// is for debugging if the request succeeded and its path is polled, or if it comes from the process
// itself, which logs another line.
func AccessLine(r *http.Request, status int) *zerolog.Event {
	log := hlog.FromRequest(r)
	switch {
	case r.RemoteAddr == inProcess:
		return log.Debug()
	case status == http.StatusUnauthorized:
		return log.Warn()
	case status < http.StatusBadRequest && slices.Contains(polled, r.URL.Path):
		return log.Debug()
	}
	return log.Info()
}
