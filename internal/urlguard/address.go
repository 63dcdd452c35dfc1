package urlguard

import (
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"
)

// azureHost looks public and is not: inside Azure it is the host's own service
// to its guests, which hands out their configuration.
const azureHost = "168.63.129.16/32"

// newGuardian knows the IANA registries: IPv4 but for the special ranges, IPv6
// in 2000::/3 but for the special ranges. It leaves to us: mapped addresses
// (permits unmaps them first), what is inside a translated address (allows looks,
// which is why the NAT64 prefix may be allowed here: it is how an IPv6-only
// machine reaches IPv4), and zones. It would permit ports 80 and 443 only.
func newGuardian() *ssrf.Guardian {
	return ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithAllowedV6Prefixes(ssrf.IPv6NAT64Prefix),
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix(azureHost)),
	)
}

// allows reports whether an address is public, or an exception.
func (g *Guard) allows(addr netip.Addr) bool {
	isPrivate := func(addr netip.Addr) bool { return !isWithin(addr, g.exceptions) && g.special.SafeAddr(addr) != nil }
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
