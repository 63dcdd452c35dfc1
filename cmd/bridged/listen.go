package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen opens the address of the API. Its error says what to do.
func listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	var hint string
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "another program listens there: stop it, or set LISTEN_ADDR to another port, such as 127.0.0.1:8081"
	case errors.Is(err, syscall.EACCES):
		hint = "ports below 1024 are reserved: set LISTEN_ADDR to another port, such as 127.0.0.1:8080"
	default:
		hint = "set LISTEN_ADDR to an address of this machine, such as 127.0.0.1:8080"
	}
	return nil, fmt.Errorf("LISTEN_ADDR %s cannot be used: %w (%s)", address, err, hint)
}
