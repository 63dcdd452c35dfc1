package front

import (
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxNetworks is how many networks a [NetworkLimiter] remembers.
const maxNetworks = 1024

// NetworkLimiter counts requests of unauthenticated clients by their networks.
type NetworkLimiter struct {
	Most  int // in every period
	Every time.Duration

	mu sync.Mutex
	of map[netip.Prefix]*rate.Limiter // guarded by mu
}

// Exceeds counts a request and reports whether its network has made too many.
func (l *NetworkLimiter) Exceeds(r *http.Request, now time.Time) bool {
	network := networkOf(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.of) >= maxNetworks {
		maps.DeleteFunc(l.of, func(_ netip.Prefix, one *rate.Limiter) bool { return one.TokensAt(now) >= float64(l.Most) })
	}
	if len(l.of) >= maxNetworks || l.of == nil {
		l.of = make(map[netip.Prefix]*rate.Limiter)
	}
	if l.of[network] == nil {
		l.of[network] = rate.NewLimiter(rate.Every(l.Every/time.Duration(l.Most)), l.Most)
	}
	return !l.of[network].AllowN(now, 1)
}

// networkOf returns the caller's IPv4 address or IPv6 /64; the zero prefix if it is unknown (see
// [Callers]).
func networkOf(r *http.Request) netip.Prefix {
	address, bits := addressOf(r), 32
	if address.Is6() {
		bits = 64
	}
	network, _ := address.WithZone("").Prefix(bits) // bits fit, or the address is the zero one
	return network
}
