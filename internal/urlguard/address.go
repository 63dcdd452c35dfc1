package urlguard

import (
	"context"
	"net/netip"
	"net/url"
	"slices"

	"code.dny.dev/ssrf"
)

// registries knows the special ranges of the IANA registries, of IPv6 all but 2000::/3. It
// leaves to us mapped addresses, zones and the IPv4 addresses inside of translated ones;
// NAT64 is how a machine without IPv4 reaches public addresses. 168.63.129.16 looks public,
// but inside Azure hands out the configuration of machines.
var registries = ssrf.New(
	ssrf.WithAnyPort(),
	ssrf.WithAllowedV6Prefixes(ssrf.IPv6NAT64Prefix),
	ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
)

// allows reports whether an address is public, or an exception.
func (g *Guard) allows(addr netip.Addr) bool {
	isPrivate := func(addr netip.Addr) bool {
		return !isWithin(addr, g.opts.AllowPrefixes) && registries.SafeAddr(addr) != nil
	}
	return isWithin(addr, g.opts.AllowPrefixes) || !isPrivate(addr) && !slices.ContainsFunc(translated(addr), isPrivate)
}

func isWithin(addr netip.Addr, prefixes []netip.Prefix) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// translated returns the IPv4 addresses that an IPv6 address may stand for.
func translated(addr netip.Addr) (inner []netip.Addr) {
	if !addr.Is6() {
		return nil
	}
	b := addr.As16()
	has := func(prefix string) bool { return netip.MustParsePrefix(prefix).Contains(addr) }
	isISATAP := b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe // RFC 5214, either setting of the universal bit
	isLocalNAT64 := has("64:ff9b:1::/48")                                      // RFC 6052, section 2.2: behind a /96 or behind the /48 itself
	if isISATAP || isLocalNAT64 || has("64:ff9b::/96") || has("::/96") || has("::ffff:0:0:0/96") {
		inner = append(inner, netip.AddrFrom4([4]byte(b[12:])))
	}
	if isLocalNAT64 {
		inner = append(inner, netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]}))
	}
	if has("2002::/16") { // 6to4
		inner = append(inner, netip.AddrFrom4([4]byte(b[2:6])))
	}
	return inner
}

// Reach connects to addresses within named prefixes, in private networks too, and to no
// others. Names of any kind are looked up; every address of a name must be within reach.
//
// Link-local addresses and those of clouds' metadata services are never within reach.
type Reach struct {
	dialer
	prefixes []netip.Prefix
}

// NewReach returns a Reach to some prefixes; a nil resolver means the system's.
func NewReach(prefixes []netip.Prefix, resolver Resolver) *Reach {
	r := &Reach{prefixes: slices.Clone(prefixes)}
	r.dialer = newDialer(r, resolver)
	return r
}

// Everywhere returns the prefixes of all addresses.
func Everywhere() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// Check refuses a URL out of reach with an *Error. Failed look-ups are left to the dial.
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

func (r *Reach) allows(addr netip.Addr) bool {
	return isWithin(addr, r.prefixes) && !isNeverReached(addr) && !slices.ContainsFunc(translated(addr), isNeverReached)
}

// metadataHosts are the addresses at which clouds serve a machine's configuration, beside
// link-local ones: Azure, Alibaba, Oracle; AWS (machines, pods), Google, Oracle, Scaleway.
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
