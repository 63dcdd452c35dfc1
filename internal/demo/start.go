package demo

import (
	"context"
	"io"

	"bridged/internal/client"
)

// Bridge is a running bridge.
type Bridge interface {
	// Client returns a client of its API, as it is reached from this machine.
	Client() *client.Client
	// LoginLink returns an address that logs in to the console once; empty where
	// there is no console.
	LoginLink() string
	// Wait waits until ctx ends or a part of the bridge fails.
	Wait(ctx context.Context) error
	// Stop ends it in order.
	Stop() error
}

// Start brings a bridge up with the configuration in environ, and writes its
// log to log. The program hands it to the demo, which cannot import it.
type Start func(ctx context.Context, environ []string, log io.Writer) (Bridge, error)
