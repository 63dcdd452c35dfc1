package main

import (
	"net"
	"net/url"

	"bridged/internal/client"
)

// newClient returns a client of the bridge that runs with this environment on
// this machine.
func newClient(environ []string) (*client.Client, error) {
	c, err := readPart(environ, (*config).checkListenAddr, (*config).checkToken)
	if err != nil {
		return nil, err
	}
	return client.New("http://"+dialable(c.ListenAddr), c.Token), nil
}

// dialable returns the address at which a listener on listenAddr is reached
// from this machine.
func dialable(listenAddr string) string {
	host, port, _ := net.SplitHostPort(listenAddr) // checked when it was read
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// isWebAddress reports whether a bridge can be called at an address.
func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
