// Package urlguard fetches files from URLs that strangers may have chosen.
//
// It makes one promise: no byte is requested from an address that is not public.
//
//  1. Check refuses URLs that some resolver or proxy would read as a private address:
//     localhost in every spelling, numbers that are no plain dotted quad, IPv6 zones,
//     credentials, look-alike characters. It runs on the target of every redirect, too.
//  2. Names are resolved once per dial. Every address of a name must be public, and the
//     checked addresses are dialled: a name server cannot answer a second look-up
//     differently.
//  3. The dialer's Control function judges the address before the first packet.
//
// Every fetch dials for every request, so every redirect passes all three. Proxies from
// the environment are never used: they would do the resolving.
//
// A Guard also bounds the cost of a fetch: its whole time, its size after decompression,
// the number of redirects and the number of fetches at once. [Reach] is for those who
// may name private addresses: steps 2 and 3, for the prefixes that were named.
//
// Left to the firewall: networks that translate IPv6 to IPv4 under a prefix of their own
// (RFC 6052, section 2.2), and services on a public address that trust every caller.
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

// Resolver looks up all addresses of a name, as a *net.Resolver does. A Guard's names end in a
// dot: search domains do not apply.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error)
}

// Options configures a Guard. The zero value is the strict one and ready for use.
type Options struct {
	// Resolver looks up names; nil means the system's.
	Resolver Resolver
	// Timeout bounds one fetch, from the first look-up to the last byte, and separately
	// the wait for a slot. Zero means 60 s.
	Timeout       time.Duration
	MaxConcurrent int    // fetches at once; zero means 4
	UserAgent     string // empty means Go's own
	// AllowPrefixes are exceptions: addresses in them count as public. They are for
	// simulated networks; names such as localhost are refused all the same.
	AllowPrefixes []netip.Prefix
}

// Guard fetches from public addresses only. It is safe for concurrent use.
type Guard struct {
	dialer
	opts  Options
	slots *semaphore.Weighted // of running fetches
}

// New returns a Guard with these options.
func New(o Options) *Guard {
	o.Timeout = cmp.Or(o.Timeout, 60*time.Second)
	g := &Guard{opts: o, slots: semaphore.NewWeighted(int64(cmp.Or(o.MaxConcurrent, 4)))}
	g.dialer = newDialer(g, o.Resolver, "the URL does not lead to a public address")
	return g
}

// Check refuses with an *Error, without a look-up, a URL that Fetch would never request.
func (g *Guard) Check(rawURL string) error {
	_, err := g.parse(rawURL)
	return err
}

// Error says why a URL was not fetched. It shows neither addresses nor a part of the URL.
type Error struct {
	Reason   string
	cause    error
	tooLarge bool
}

// Error returns the sentence for the caller.
func (e *Error) Error() string { return "fetch failed: " + e.Reason }

// Unwrap returns the cause, or nil. It may name addresses: it is for the operator's log.
func (e *Error) Unwrap() error { return e.cause }

// refuse returns the error for a decision of the guard.
func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// broke returns the error for a failure of the network or of the other side.
func broke(cause error, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), cause: cause}
}

func errTooLarge(limit int64) error {
	if limit > 0 && limit%(1<<20) == 0 {
		return &Error{Reason: fmt.Sprintf("larger than %d MiB", limit>>20), tooLarge: true}
	}
	return &Error{Reason: fmt.Sprintf("larger than %d bytes", limit), tooLarge: true}
}

// isRefusal reports whether an error is a decision of the guard.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.cause == nil
}

// is reports whether an error of a type is in the tree of another.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
