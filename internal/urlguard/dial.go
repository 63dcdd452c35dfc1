package urlguard

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// nextAddressAfter is the time for connecting to an address while the name has another.
const nextAddressAfter = 5 * time.Second

// policy decides on the addresses of a dialer. [Guard] and [Reach] are the two.
type policy interface {
	// vetTarget returns the address that a URL's host stands for, or else the name to look up.
	vetTarget(host string) (name string, addr netip.Addr, err error)
	// allows judges an address that has no zone and is not a mapped one.
	allows(addr netip.Addr) bool
	// refusal returns the error for an address that is not allowed.
	refusal() error
}

// dialer connects to the addresses that its policy permits.
type dialer struct {
	policy    policy
	resolver  Resolver
	tlsConfig *tls.Config // nil but in tests, which bring an authority of their own
}

func newDialer(p policy, resolver Resolver) dialer {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	return dialer{policy: p, resolver: resolver}
}

// Transport makes requests of any kind to permitted addresses only, and follows no redirects.
// Their contexts have to bound them. Call Check first for refusals that need no connection.
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

// dial repeats the checks of a URL: the transport maps names in its own way.
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

// resolve returns a host's addresses, in the resolver's order, if all may be dialled.
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
			return nil, d.policy.refusal()
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
		return nil, broke(err, "the host does not exist")
	case err != nil:
		return nil, broke(err, "the host's name could not be looked up")
	case len(addrs) == 0:
		return nil, refuse("the host has no address")
	}
	return addrs, nil
}

// permits reports whether an address may be dialled. ::ffff:a.b.c.d is a.b.c.d.
func (d *dialer) permits(addr netip.Addr) bool {
	return addr.IsValid() && addr.Zone() == "" && d.policy.allows(addr.Unmap())
}

// control judges the address that [net.Dialer] is about to connect to.
func (d *dialer) control(network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	isTCP := network == "tcp4" || network == "tcp6"
	if !isTCP || err != nil || target.Port() == 0 || !d.permits(target.Addr()) {
		return d.policy.refusal()
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
	return nil, broke(errors.Join(failures...), "the server could not be reached")
}
