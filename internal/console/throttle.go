package console

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// maxTries is how many wrong tokens an address may try within tryTime before
	// each further one is answered slowly.
	maxTries = 5
	tryTime  = time.Minute
	slowTime = time.Second
	// maxAddresses bounds the addresses that are remembered.
	maxAddresses = 1024
)

// throttle slows down who tries wrong tokens. It never keeps a right one out:
// many people may come from one address. Addresses of IPv6 count by their /64,
// which is what one customer has.
type throttle struct {
	now     func() time.Time
	proxied func(*http.Request) bool // whether a request came through the operator's proxy

	mu    sync.Mutex // guards tried
	tried map[netip.Prefix]tries
}

// tries are the wrong tokens of one address since a moment.
type tries struct {
	since time.Time
	count int
}

func newThrottle(now func() time.Time, proxied func(*http.Request) bool) *throttle {
	return &throttle{now: now, proxied: proxied, tried: make(map[netip.Prefix]tries)}
}

// failed counts a wrong token, and reports whether too many came from the
// request's address.
func (t *throttle) failed(r *http.Request) (tooMany bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, address := t.now(), t.addressOf(r)
	known := t.tried[address]
	if now.Sub(known.since) >= tryTime {
		known = tries{since: now}
	}
	known.count++
	if len(t.tried) >= maxAddresses {
		t.forget(now)
	}
	t.tried[address] = known
	return known.count > maxTries
}

// forget removes the addresses whose time is over; if there are none, all. The
// caller holds mu.
func (t *throttle) forget(now time.Time) {
	for address, known := range t.tried {
		if now.Sub(known.since) >= tryTime {
			delete(t.tried, address)
		}
	}
	if len(t.tried) >= maxAddresses {
		clear(t.tried)
	}
}

// addressOf returns the network that a request comes from; the zero prefix
// where that is not known. Of one that came through the operator's proxy, that is
// what the proxy says last: all else in X-Forwarded-For is the visitor's word.
func (t *throttle) addressOf(r *http.Request) netip.Prefix {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address, bits := at.Addr().Unmap(), 32
	if (address.IsLoopback() || address.IsPrivate()) && t.proxied(r) {
		list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if visitor, err := netip.ParseAddr(strings.TrimSpace(list[len(list)-1])); err == nil {
			address = visitor.Unmap()
		}
	}
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
