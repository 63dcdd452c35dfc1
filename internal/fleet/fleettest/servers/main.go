// Command servers runs a cluster of real NATS servers on this machine until it
// is interrupted, for programs of other languages and for measurements. It
// prints their addresses, as NATS_URL takes them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"bridged/internal/fleet/fleettest"
)

func main() {
	nodes := flag.Int("nodes", 3, "how many servers")
	dir := flag.String("dir", "", "where they keep their streams; a temporary directory without it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *nodes, *dir)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, nodes int, dir string) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "nats"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	cluster, err := fleettest.Start(dir, nodes)
	if err != nil {
		return err
	}
	defer cluster.Stop()
	fmt.Println(cluster.URL())
	<-ctx.Done()
	return nil
}
