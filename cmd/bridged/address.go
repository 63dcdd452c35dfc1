package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"

	"github.com/caarlos0/env/v11"

	"bridged/internal/client"
	"bridged/internal/config"
)

// listen opens the address of the API. Its error has a remedy.
func listen(variable, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	var hint string
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "another program listens there: stop it, or set " + variable + " to another port, such as 127.0.0.1:8081"
	case errors.Is(err, syscall.EACCES):
		hint = "ports below 1024 are reserved: set " + variable + " to another port, such as 127.0.0.1:8080"
	default:
		hint = "set " + variable + " to an address of this machine, such as 127.0.0.1:8080"
	}
	return nil, fmt.Errorf("%s %s cannot be used: %w (%s)", variable, address, err, hint)
}

// newClient returns a client of the bridge at BRIDGE_URL, or of the one that runs with
// this environment on this machine.
func newClient(environ []string) (*client.Client, error) {
	base := env.ToMap(environ)["BRIDGE_URL"]
	if base != "" {
		return clientAt(base, environ)
	}
	c, err := config.Part(environ, (*config.Config).CheckToken, (*config.Config).CheckListenAddr)
	if err != nil {
		return nil, err
	}
	return client.New("http://"+dialable(c.ListenAddr), c.Token), nil
}

// clientAt returns a client of the bridge at base, with the token of the environment.
func clientAt(base string, environ []string) (*client.Client, error) {
	c, err := config.Part(environ, (*config.Config).CheckToken, func(_ *config.Config, faults *config.Faults) {
		if !isWebAddress(base) {
			*faults = append(*faults, "BRIDGE_URL, or --address, must be an http:// or https:// address, such as https://bridge.example.com")
		}
	})
	if err != nil {
		return nil, err
	}
	return client.New(base, c.Token), nil
}

// withClient returns the run of a command that calls the bridge of this environment.
func withClient(do func(e *environment, c *client.Client, args []string) error) runner {
	return func(e *environment, args []string) error {
		c, err := newClient(e.environ)
		if err != nil {
			return err
		}
		defer c.Close()
		return do(e, c, args)
	}
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

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
