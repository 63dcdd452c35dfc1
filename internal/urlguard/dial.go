package urlguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// nextAddressAfter is how long one address may keep a connection waiting while
// the name has another.
const nextAddressAfter = 5 * time.Second

// dial connects to a host and port that the transport took from a URL. It trusts
// nothing that was checked before: the transport maps names in its own way.
func (g *Guard) dial(ctx context.Context, hostport string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, refuse("the URL names no host")
	}
	if err := checkPort(service); err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, refuse("the port must be between 1 and 65535")
	}
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	return connect(ctx, g.dialer, addrs, uint16(port))
}

// resolve returns a host's addresses, in the resolver's order, if all of them may
// be dialled.
func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs, err := g.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	public := make([]netip.Addr, 0, len(addrs))
	for _, addr := range addrs {
		if !g.permits(addr) {
			return nil, errNotPublic()
		}
		public = append(public, addr.Unmap())
	}
	return public, nil
}

func (g *Guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return []netip.Addr{addr}, nil
	}
	name, addr, err := g.vetName(host)
	if err != nil {
		return nil, err
	}
	if addr.IsValid() {
		return []netip.Addr{addr}, nil
	}
	return g.lookUp(ctx, name)
}

// lookUp asks for the name as an absolute one: with search domains, a public name
// could end up as one of the local network.
func (g *Guard) lookUp(ctx context.Context, name string) ([]netip.Addr, error) {
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", name+".")
	var missing *net.DNSError
	switch {
	case errors.As(err, &missing) && missing.IsNotFound:
		return nil, broke(err, "the host does not exist")
	case err != nil:
		return nil, broke(err, "the host's name could not be looked up")
	case len(addrs) == 0:
		return nil, refuse("the host has no address")
	}
	return addrs, nil
}

// connect tries the addresses in turn.
func connect(ctx context.Context, dialer *net.Dialer, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var failures []error
	for i, addr := range addrs {
		last := i == len(addrs)-1
		conn, err := connectOne(ctx, dialer, netip.AddrPortFrom(addr, port), last)
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

// connectOne connects to one address. It gives up early only if there is another
// to try.
func connectOne(ctx context.Context, dialer *net.Dialer, target netip.AddrPort, last bool) (net.Conn, error) {
	if !last {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, nextAddressAfter)
		defer cancel()
	}
	return dialer.DialContext(ctx, "tcp", target.String())
}
