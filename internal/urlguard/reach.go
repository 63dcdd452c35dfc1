package urlguard

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
)

// Reach connects to addresses within named prefixes, in private networks too, and
// to no others. Names of any kind are looked up, as those of a private network
// are; every address of a name must be within reach, and what was judged is what
// is dialled.
//
// Addresses at which machines give themselves away are never within reach,
// even if they were named: link-local ones, and those of clouds' metadata services.
type Reach struct {
	dialer
	prefixes []netip.Prefix
}

// NewReach returns a Reach to all addresses within some prefixes. The resolver
// may be nil for the system's.
func NewReach(prefixes []netip.Prefix, resolver Resolver) *Reach {
	r := &Reach{prefixes: slices.Clone(prefixes)}
	r.dialer = newDialer(r, resolver)
	return r
}

// Everywhere returns the prefixes of all addresses.
func Everywhere() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// Check refuses a URL whose host is out of reach. What cannot be looked up at
// the moment is not refused: it is judged again when it is dialled. The error
// is an *Error.
func (r *Reach) Check(ctx context.Context, rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil || u.Hostname() == "" {
		return refuse("the URL names no host")
	}
	if _, err = r.resolve(ctx, u.Hostname()); isRefusal(err) {
		return err
	}
	return nil
}

func (r *Reach) vetTarget(host string) (name string, addr netip.Addr, err error) {
	addr, _ = netip.ParseAddr(host)
	return host, addr, nil
}

// allows reports whether an address is within reach.
func (r *Reach) allows(addr netip.Addr) bool {
	return isWithin(addr, r.prefixes) && !isNeverReached(addr) && !slices.ContainsFunc(translated(addr), isNeverReached)
}

// metadataHosts are where clouds serve a machine's own configuration outside of
// the link-local ranges: Azure, Alibaba, Oracle; and over IPv6 AWS (for machines
// and for pods), Google, Oracle and Scaleway.
var metadataHosts = [...]string{
	"168.63.129.16", "100.100.100.200", "192.0.0.192",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
}

// isNeverReached reports whether an address is out of reach even if it was named.
func isNeverReached(addr netip.Addr) bool {
	return addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		addr.Is4() && addr.IsUnspecified() || // ::1 stands for 0.0.0.1, which is no host
		addr == netip.IPv6Unspecified() || slices.Contains(metadataHosts[:], addr.String())
}

func (r *Reach) refusal() error {
	return refuse("the URL does not lead to an address that is permitted")
}
