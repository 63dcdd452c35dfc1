package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthcheckCommand asks a running bridge for /healthz. It exists so that an
// image without a shell can check itself.
type healthcheckCommand struct{}

// healthTimeout is how long the answer may take.
const healthTimeout = 5 * time.Second

// Run is called by kong.
func (healthcheckCommand) Run(e *environment) error {
	address, err := listenAddr(e.environ)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no bridge answers at %s: %w", address, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the bridge at %s answered %s", address, resp.Status)
	}
	return nil
}

// dialable is the address at which a listener on listenAddr is reached from
// this machine.
func dialable(listenAddr string) (string, error) {
	host, port, err := net.SplitHostPort(listenAddr)
	if err != nil {
		return "", configFaults{"LISTEN_ADDR must be host:port, such as 127.0.0.1:8080"}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
