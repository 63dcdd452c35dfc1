// Package urlguard fetches files from URLs that strangers may have chosen.
//
// It makes one promise: no byte is requested from an address that is not public.
// It keeps it in three steps, each of which would be enough for most attacks:
//
//  1. Check looks at the URL alone and refuses what some resolver or proxy would
//     read as a private address: localhost in every dress, numbers that are no
//     plain dotted quad, IPv6 zones, credentials, look-alike characters. The same
//     check runs on the target of every redirect.
//  2. Names are resolved here, once per dial. Every address of a name must be
//     public, or none of them is used; what was checked is what is dialled, so
//     there is no second look-up for a name server to answer differently.
//  3. The dialer's Control function judges the address once more, after all look-ups
//     and before the first packet.
//
// Every request dials for itself (there are no kept connections), so every
// redirect passes all three. Proxies from the environment are never used: they
// would do the resolving, and the promise would be theirs to break.
//
// A Guard also bounds what a fetch may cost: its whole time, its size counted
// after decompression, the number of redirects and the number of fetches at once.
//
// [Reach] is for those who may name private addresses: it holds the second and
// the third step, for the prefixes that were named.
//
// What it cannot know: a network that translates IPv6 to IPv4 under a prefix of
// its own (RFC 6052, section 2.2), and services that listen on a public address
// but expect only friends. Both are for the firewall.
package urlguard

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"code.dny.dev/ssrf"
)

const (
	defaultTimeout       = 60 * time.Second
	defaultMaxConcurrent = 4
)

// Resolver looks up all addresses of a name. A *net.Resolver is one. The names of
// a Guard end in a dot: they are absolute, and search domains do not apply.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error)
}

// Options configures a Guard. The zero value is the strict one and ready for use.
type Options struct {
	// Resolver looks up names; nil means the system's.
	Resolver Resolver
	// Timeout bounds one fetch, from the first look-up to the last byte. It also
	// bounds, separately, the wait for a slot. Zero means 60 s.
	Timeout time.Duration
	// MaxConcurrent limits the fetches that run at once; the others wait.
	// Zero means 4.
	MaxConcurrent int
	// UserAgent is the header of that name; empty means Go's own.
	UserAgent string
	// AllowPrefixes makes exceptions: addresses in them count as public. It is for
	// tests and demonstrations that serve their files from loopback; in production
	// it stays empty. Names such as localhost are refused all the same: an
	// exception is for an address.
	AllowPrefixes []netip.Prefix
}

// Guard fetches from public addresses only. It is safe for concurrent use.
type Guard struct {
	dialer
	timeout    time.Duration
	userAgent  string
	exceptions []netip.Prefix
	special    *ssrf.Guardian // the IANA registries
	slots      chan struct{}  // one element for each running fetch
}

// New returns a Guard with these options.
func New(o Options) *Guard {
	g := &Guard{
		timeout:    cmp.Or(o.Timeout, defaultTimeout),
		userAgent:  o.UserAgent,
		exceptions: slices.Clone(o.AllowPrefixes),
		special:    newGuardian(),
		slots:      make(chan struct{}, cmp.Or(o.MaxConcurrent, defaultMaxConcurrent)),
	}
	g.dialer = newDialer(g, o.Resolver)
	return g
}

// Check refuses, without asking the network, a URL that Fetch would never
// request: malformed, not http or https, or not public by the look of it.
// A nil answer promises nothing about a name's addresses. The error is an *Error.
func (g *Guard) Check(rawURL string) error {
	_, err := g.parse(rawURL)
	return err
}
