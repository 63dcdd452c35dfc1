package urlguard

import (
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// azureHost looks public and is not: inside Azure it is the host's own service
// to its guests, which hands out their configuration.
const azureHost = "168.63.129.16/32"

// newGuardian knows the IANA registries: IPv4 but for the special ranges, IPv6
// in 2000::/3 but for the special ranges. It leaves to us: mapped addresses
// (permits unmaps them first), what is inside a translated address (permits looks,
// which is why the NAT64 prefix may be allowed here: it is how an IPv6-only
// machine reaches IPv4), and zones. It would permit ports 80 and 443 only.
func newGuardian(exceptions []netip.Prefix) *ssrf.Guardian {
	v6 := []netip.Prefix{ssrf.IPv6NAT64Prefix}
	var v4 []netip.Prefix
	for _, p := range exceptions {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix(azureHost)),
	)
}

// permits reports whether an address is public, or an exception.
func (g *Guard) permits(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap() // ::ffff:a.b.c.d is a.b.c.d
	if slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return true
	}
	if inner, ok := embedded(addr); ok && g.special.SafeAddr(inner) != nil {
		return false
	}
	return g.special.SafeAddr(addr) == nil
}

// embedded finds the IPv4 address that an IPv6 address of a permitted range
// stands for: NAT64's last 32 bits (RFC 6052) and ISATAP's (RFC 5214, either
// setting of the universal bit). 6to4, Teredo, the IPv4-compatible and the
// IPv4-translated form need no look inside: none of their ranges is permitted.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	isatap := b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
	if !isatap && !ssrf.IPv6NAT64Prefix.Contains(addr) {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(b[12:])), true
}

// control judges an address for the last time: the dialer calls it with the one it
// is about to connect to.
func (g *Guard) control(network, address string, conn syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || target.Port() == 0 || !g.permits(target.Addr()) {
		return errNotPublic()
	}
	if g.special.Safe(network, address, conn) != nil {
		return errNotPublic() // the library's words would name the address
	}
	return nil
}
