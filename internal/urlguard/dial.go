package urlguard

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// nextAddressAfter limits connecting to one address if the name has more.
const nextAddressAfter = 5 * time.Second

// policy decides which addresses a dialer may connect to. [Guard] and [Reach] are policies.
type policy interface {
	// vetTarget returns the address that a URL's host is, or else the name to look up.
	vetTarget(host string) (name string, addr netip.Addr, err error)
	// allows decides about an address without a zone. Mapped addresses are unmapped before.
	allows(addr netip.Addr) bool
}

// dialer connects to the addresses that its policy permits.
type dialer struct {
	policy    policy
	refused   error // returned for addresses that the policy does not allow
	resolver  Resolver
	tlsConfig *tls.Config // nil except in tests, which use their own authority
}

func newDialer(p policy, resolver Resolver, refusal string) dialer {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	return dialer{policy: p, refused: refuse("%s", refusal), resolver: resolver}
}

// Transport makes any requests to permitted addresses only, and follows no redirects. Their
// contexts must limit their time. Call Check first to refuse without a connection.
func (d *dialer) Transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // never, whatever the environment says
		DialContext:            func(ctx context.Context, _, hostport string) (net.Conn, error) { return d.dial(ctx, hostport) },
		TLSClientConfig:        d.tlsConfig,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    4,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// dial repeats the checks of a URL, because the transport maps names differently.
func (d *dialer) dial(ctx context.Context, hostport string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, refuse("the URL names no host")
	}
	port, err := parsePort(service)
	if err != nil {
		return nil, err
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	return d.connect(ctx, addrs, port)
}

// resolve returns a host's addresses, in the resolver's order, if all of them are permitted.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	name, addr, err := d.policy.vetTarget(host)
	if err != nil {
		return nil, err
	}
	found := []netip.Addr{addr}
	if !addr.IsValid() {
		if found, err = d.lookUp(ctx, name); err != nil {
			return nil, err
		}
	}
	addrs := make([]netip.Addr, len(found))
	for i, addr := range found {
		if !d.permits(addr) {
			return nil, d.refused
		}
		addrs[i] = addr.Unmap()
	}
	return addrs, nil
}

func (d *dialer) lookUp(ctx context.Context, name string) ([]netip.Addr, error) {
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", name)
	missing, ok := errors.AsType[*net.DNSError](err)
	switch {
	case ok && missing.IsNotFound:
		return nil, networkError(err, "the host does not exist")
	case err != nil:
		return nil, networkError(err, "the host's name could not be looked up")
	case len(addrs) == 0:
		return nil, refuse("the host has no address")
	}
	return addrs, nil
}

// permits reports whether an address may be dialled. It treats ::ffff:a.b.c.d as a.b.c.d.
func (d *dialer) permits(addr netip.Addr) bool {
	return addr.IsValid() && addr.Zone() == "" && d.policy.allows(addr.Unmap())
}

// control checks the address that [net.Dialer] is about to connect to.
func (d *dialer) control(network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	isTCP := network == "tcp4" || network == "tcp6"
	if !isTCP || err != nil || target.Port() == 0 || !d.permits(target.Addr()) {
		return d.refused
	}
	return nil
}

func (d *dialer) connect(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var failures []error
	for i, addr := range addrs {
		dialer := net.Dialer{Control: d.control}
		if i < len(addrs)-1 {
			dialer.Timeout = nextAddressAfter
		}
		conn, err := dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, port).String())
		if err == nil {
			return conn, nil
		}
		if isRefusal(err) || ctx.Err() != nil {
			return nil, err
		}
		failures = append(failures, err)
	}
	return nil, networkError(errors.Join(failures...), "the server could not be reached")
}

// registries contains the special ranges of the IANA registries, and of IPv6 everything but
// 2000::/3. Mapped addresses, zones and IPv4 addresses within translated ones are checked
// elsewhere. NAT64 is permitted, because machines without IPv4 reach public addresses with it.
// 168.63.129.16 looks public, but serves the configuration of machines within Azure.
var registries = ssrf.New(
	ssrf.WithAnyPort(),
	ssrf.WithAllowedV6Prefixes(ssrf.IPv6NAT64Prefix),
	ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")),
)

// allows reports whether an address is public or an exception.
func (g *Guard) allows(addr netip.Addr) bool {
	isPrivate := func(addr netip.Addr) bool {
		return !isWithin(addr, g.opts.AllowPrefixes) && registries.SafeAddr(addr) != nil
	}
	return isWithin(addr, g.opts.AllowPrefixes) || !isPrivate(addr) && !slices.ContainsFunc(translated(addr), isPrivate)
}

func isWithin(addr netip.Addr, prefixes []netip.Prefix) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// translated returns the IPv4 addresses that an IPv6 address may be translated to.
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

// Reach connects only to addresses within given prefixes, which may be private. It looks up names
// of any kind; every address of a name must be within the prefixes.
//
// Link-local addresses and the metadata services of clouds are never within reach.
type Reach struct {
	dialer
	prefixes []netip.Prefix
}

// NewReach returns a Reach for some prefixes. A nil resolver means the system's.
func NewReach(prefixes []netip.Prefix, resolver Resolver) *Reach {
	r := &Reach{prefixes: slices.Clone(prefixes)}
	r.dialer = newDialer(r, resolver, "the URL does not lead to an address that is permitted")
	return r
}

// Everywhere returns the prefixes of all addresses.
func Everywhere() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
}

// Check refuses a URL out of reach with an *Error. Failed look-ups are reported by the dial
// instead.
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

// metadataHosts are the addresses at which clouds serve a machine's configuration, in addition to
// link-local ones: Azure, Alibaba, Oracle; AWS (machines, pods), Google, Oracle, Scaleway.
var metadataHosts = [...]string{
	"168.63.129.16", "100.100.100.200", "192.0.0.192",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
}

// isNeverReached reports whether an address is out of reach even if it is within the prefixes.
func isNeverReached(addr netip.Addr) bool {
	return addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		addr.Is4() && addr.IsUnspecified() || // ::1 would contain 0.0.0.1, which is not a host
		addr == netip.IPv6Unspecified() || slices.Contains(metadataHosts[:], addr.String())
}
