// Command network runs a simulated WhatsApp network in a process of its own,
// with an HTTP interface to its phones, for interoperability tests written in
// other languages.
//
// It prints one line of JSON with its addresses, and ends with its standard input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"bridged/internal/simnet"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "network:", err)
		os.Exit(1)
	}
}

// stage is the description that other processes get.
type stage struct {
	// Control is the address of the phones' interface and of sample files.
	Control string `json:"control"`
	// Network holds the network file.
	Network json.RawMessage `json:"network"`
}

// run serves until stdin ends.
func run(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	network, err := simnet.New(ctx, simnet.Options{Rotations: -1}) // Baileys does not support them yet
	if err != nil {
		return err
	}
	defer network.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newControl(network), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		_ = server.Close() // the callers of open requests are gone
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}()
	if err = json.NewEncoder(stdout).Encode(stage{Control: "http://" + listener.Addr().String(), Network: network.NetworkFile()}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, stdin)
	return err
}
