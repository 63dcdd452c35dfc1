package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"syscall"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bridged/internal/client"
	"bridged/internal/config"
)

// listen listens at the address in a variable. Its error says what to change.
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

// bridgeFlags are the flags of a command that calls a bridge.
type bridgeFlags struct{ address, tokenFile string }

func (f *bridgeFlags) addTo(flags *pflag.FlagSet) {
	f.addAddressTo(flags)
	flags.StringVar(&f.tokenFile, "token-file", "", "A `FILE` with the token, instead of BRIDGE_TOKEN and BRIDGE_TOKEN_FILE")
}

func (f *bridgeFlags) addAddressTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "address", "", "The bridge's `URL`, such as https://bridge.example.com, instead of BRIDGE_URL and LISTEN_ADDR")
}

// environ returns the variables with the values of the flags.
func (f *bridgeFlags) environ(variables []string) []string {
	variables = slices.Clone(variables)
	if f.tokenFile != "" {
		variables = append(variables, "BRIDGE_TOKEN=", "BRIDGE_TOKEN_FILE="+f.tokenFile)
	}
	if f.address != "" {
		variables = append(variables, "BRIDGE_URL="+f.address)
	}
	return variables
}

// newClient returns a client of the bridge at BRIDGE_URL. Without BRIDGE_URL it is the bridge that
// listens at LISTEN_ADDR on this machine.
func newClient(environ []string) (*client.Client, error) {
	var base string
	c, err := config.Part(environ, (*config.Config).CheckToken, findBridge(environ, &base))
	if err != nil {
		return nil, err
	}
	return client.New(base, c.Token), nil
}

// findBridge returns a check that sets base to the address of the bridge to call.
func findBridge(environ []string, base *string) func(*config.Config, *config.Faults) {
	return func(c *config.Config, faults *config.Faults) {
		*base = env.ToMap(environ)["BRIDGE_URL"]
		switch {
		case *base == "":
			c.CheckListenAddr(faults)
			*base = "http://" + dialable(c.ListenAddr)
		case !isWebAddress(*base):
			*faults = append(*faults, "BRIDGE_URL, or --address, must be an http:// or https:// address, such as https://bridge.example.com")
		}
	}
}

// bridgeCommand returns a command that calls the bridge that its flags or the environment name.
func (e *environment) bridgeCommand(usage, help string, do func(api *client.Client, args []string) error) *cobra.Command {
	var flags bridgeFlags
	c := e.newCommand(usage, help, func(args []string) error {
		api, err := newClient(flags.environ(e.environ))
		if err != nil {
			return err
		}
		defer api.Close()
		return do(api, args)
	})
	flags.addTo(c.Flags())
	return c
}

// dialable returns the address to dial from this machine for a listener on listenAddr.
func dialable(listenAddr string) string {
	host, port, _ := net.SplitHostPort(listenAddr) // CheckListenAddr has reported its error
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
