// Package urlguard fetches files from untrusted URLs.
//
// It makes one promise: no byte is requested from an address that is not public.
//
//  1. Check refuses URLs that some resolver or proxy would read as a private address:
//     localhost in every spelling, numbers other than plain dotted quads, IPv6 zones,
//     credentials, look-alike characters. It also checks the target of every redirect.
//  2. Names are resolved once per dial. Every address of a name must be public, and the
//     checked addresses are dialled: a name server cannot give another answer to a second
//     look-up.
//  3. The dialer's Control function checks the address before the first packet.
//
// Every request dials, so every redirect passes all three steps. Proxies from the environment are
// never used, because they would resolve the names.
//
// A Guard also limits the cost of a fetch: its total time, its size after decompression, the
// number of redirects and the number of concurrent fetches. [Reach] is for callers who may use
// private addresses: it applies steps 2 and 3 to given prefixes.
//
// Two dangers are left to the firewall: networks that translate IPv6 to IPv4 with their own
// prefix (RFC 6052, section 2.2), and services on a public address that trust every caller.
package urlguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sync/semaphore"
)

// Resolver looks up all addresses of a name, like a *net.Resolver. A Guard passes names with a
// final dot, so that search domains do not apply.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error)
}

// Options configures a Guard. The zero value is strict and ready for use.
type Options struct {
	// Resolver looks up names; nil means the system's.
	Resolver Resolver
	// Timeout limits one fetch, from the first look-up to the last byte, and separately the wait
	// for a slot. Zero means 60 s.
	Timeout       time.Duration
	MaxConcurrent int    // concurrent fetches; zero means 4
	UserAgent     string // empty means Go's own
	// AllowPrefixes are exceptions: addresses in them count as public. They are for simulated
	// networks; names such as localhost are still refused.
	AllowPrefixes []netip.Prefix
}

// Guard fetches from public addresses only. It is safe for concurrent use.
type Guard struct {
	dialer
	opts  Options
	slots *semaphore.Weighted // semaphore of running fetches
}

// New returns a Guard with these options.
func New(o Options) *Guard {
	o.Timeout = cmp.Or(o.Timeout, 60*time.Second)
	g := &Guard{opts: o, slots: semaphore.NewWeighted(int64(cmp.Or(o.MaxConcurrent, 4)))}
	g.dialer = newDialer(g, o.Resolver, "the URL does not lead to a public address")
	return g
}

// Check returns an *Error, without a look-up, for a URL that Fetch would never request.
func (g *Guard) Check(rawURL string) error {
	_, err := g.parse(rawURL)
	return err
}

// Error says why a URL was not fetched. Its text contains neither addresses nor parts of the URL.
type Error struct {
	Reason   string
	cause    error
	tooLarge bool
}

// Error returns the sentence for the caller.
func (e *Error) Error() string { return "fetch failed: " + e.Reason }

// Unwrap returns the cause, or nil. The cause may contain addresses: it is for the operator's
// log.
func (e *Error) Unwrap() error { return e.cause }

// refuse returns the error for a refusal of the guard.
func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// networkError returns the error for a failure of the network or the server.
func networkError(cause error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), cause: cause}
}

func errTooLarge(limit int64) error {
	if limit > 0 && limit%(1<<20) == 0 {
		return &Error{Reason: fmt.Sprintf("larger than %d MiB", limit>>20), tooLarge: true}
	}
	return &Error{Reason: fmt.Sprintf("larger than %d bytes", limit), tooLarge: true}
}

// isRefusal reports whether an error is a refusal of the guard.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.cause == nil
}

// is reports whether an error tree contains an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
