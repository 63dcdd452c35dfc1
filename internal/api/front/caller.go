package front

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"
)

// Callers returns a handler for which the RemoteAddr of a request is the address of its
// caller. If the Host of a request is in public and it comes from a loopback or private
// address, the operator's proxy has passed it on: then the caller is the last address in
// X-Forwarded-For, because a caller can write the others.
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

// addressOf returns the address of a request's caller; the zero one if it did not come over a
// connection.
func addressOf(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero one if it is no address
	return at.Addr().Unmap()
}

// IsPublic reports whether a Host header names one of the operator's public addresses.
func IsPublic(public []*url.URL, host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return slices.ContainsFunc(public, func(u *url.URL) bool { return strings.EqualFold(u.Hostname(), name) })
}

// polled lists the paths that programs ask for every few seconds.
var polled = []string{"/healthz", "/readyz", "/metrics", "/api/auth/status", "/api/events"}

// inProcess is the RemoteAddr of requests that other parts of the process make (client.InProcess).
const inProcess = "in-process"

// AccessLine returns the line of the access log for a request: a warning if the caller's token
// was refused; for debugging if the request was successful and is repeated every few seconds,
// or if it comes from within the process, where another line has it.
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
