package urlguard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
)

// Reach connects to addresses that somebody with a right to it has named, in
// private networks too, and to no others. Names of any kind are looked up, as
// those of a private network are; every address of a name must be within reach,
// and what was judged is what is dialled.
//
// Addresses at which machines give themselves away are never within reach,
// even if they were named: link-local ones, and those of clouds' metadata services.
type Reach struct {
	prefixes []netip.Prefix
	resolver Resolver
	dialer   *net.Dialer
}

// NewReach returns a Reach to all addresses within some prefixes. The resolver
// may be nil for the system's.
func NewReach(prefixes []netip.Prefix, resolver Resolver) *Reach {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	r := &Reach{prefixes: slices.Clone(prefixes), resolver: resolver}
	r.dialer = &net.Dialer{Control: r.control}
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
	_, err = r.resolve(ctx, u.Hostname())
	if isRefusal(err) {
		return err
	}
	return nil
}

// Transport makes requests of any kind to addresses within reach, follows no
// redirects, and keeps connections as that of a [Guard] does.
func (r *Reach) Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // never, whatever the environment says
		DialContext:            func(ctx context.Context, _, hostport string) (net.Conn, error) { return r.dial(ctx, hostport) },
		TLSHandshakeTimeout:    handshakeTimeout,
		IdleConnTimeout:        idleTime,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

func (r *Reach) dial(ctx context.Context, hostport string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, refuse("the URL names no host")
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil || port == 0 {
		return nil, refuse("the port must be between 1 and 65535")
	}
	addrs, err := r.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	return connect(ctx, r.dialer, addrs, uint16(port))
}

// resolve returns a host's addresses if all of them are within reach.
func (r *Reach) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := r.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		if !r.permits(addr) {
			return nil, errOutOfReach()
		}
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

func (r *Reach) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	addrs, err := r.resolver.LookupNetIP(ctx, "ip", host)
	var missing *net.DNSError
	switch {
	case errors.As(err, &missing) && missing.IsNotFound:
		return nil, broke(err, "the host does not exist")
	case err != nil:
		return nil, broke(err, "the host's name could not be looked up")
	case len(addrs) == 0:
		return nil, refuse("the host has no address")
	}
	return slices.Clone(addrs), nil
}

// permits reports whether an address is within reach.
func (r *Reach) permits(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	for _, inner := range translated(addr) {
		if isNeverReached(inner) {
			return false
		}
	}
	return !isNeverReached(addr) &&
		slices.ContainsFunc(r.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// translated returns the IPv4 addresses that an IPv6 address may stand for.
func translated(addr netip.Addr) []netip.Addr {
	if !addr.Is6() {
		return nil
	}
	b := addr.As16()
	tail := netip.AddrFrom4([4]byte(b[12:]))
	if _, ok := embedded(addr); ok {
		return []netip.Addr{tail}
	}
	if netip.MustParsePrefix("64:ff9b:1::/48").Contains(addr) { // RFC 6052, section 2.2: behind a /96 or behind the /48 itself
		return []netip.Addr{tail, netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]})}
	}
	for _, prefix := range []string{"::/96", "::ffff:0:0:0/96"} {
		if netip.MustParsePrefix(prefix).Contains(addr) {
			return []netip.Addr{tail}
		}
	}
	if b[0] == 0x20 && b[1] == 0x02 { // 6to4
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	}
	return nil
}

// metadataHosts are where clouds tell a machine about itself outside of the
// link-local ranges: Azure, Alibaba, Oracle; and over IPv6 AWS (for machines and
// for pods), Google, Oracle and Scaleway.
var metadataHosts = [...]string{
	"168.63.129.16", "100.100.100.200", "192.0.0.192",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
}

// isNeverReached reports whether an address is out of reach even if it was named.
func isNeverReached(addr netip.Addr) bool {
	return addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		addr.Is4() && addr.IsUnspecified() || // ::1 stands for 0.0.0.1, which is nobody
		addr == netip.IPv6Unspecified() || slices.Contains(metadataHosts[:], addr.String())
}

// control judges an address for the last time, as that of a [Guard] does.
func (r *Reach) control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || target.Port() == 0 || !r.permits(target.Addr()) {
		return errOutOfReach()
	}
	return nil
}

func errOutOfReach() error { return refuse("the URL does not lead to an address that is permitted") }
