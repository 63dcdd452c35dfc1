package urlguard

import (
	"net/netip"
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
	isPrivate := func(addr netip.Addr) bool { return !isWithin(addr, g.exceptions) && registries.SafeAddr(addr) != nil }
	return isWithin(addr, g.exceptions) || !isPrivate(addr) && !slices.ContainsFunc(translated(addr), isPrivate)
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
