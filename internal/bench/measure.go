package bench

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bridged/internal/client"
	"bridged/internal/simnet"
)

const token = "bench-0123456789abcdef"

// server is a running bridge over a filled store, and the plain way to
// read the same file.
type server struct {
	*filledStore
	api     *client.Client
	plain   *yardstick
	network *simnet.Network
	bridge  Bridge
}

// serve runs the bridge in this process, on a network to which it is not paired,
// with further variables.
func (b *bench) serve(ctx context.Context, s *filledStore, variables ...string) (_ *server, err error) {
	server := &server{filledStore: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, server.stop())
		}
	}()
	if server.network, err = simnet.New(context.WithoutCancel(ctx), simnet.Options{}); err != nil {
		return nil, err
	}
	environ, err := b.environ(server.network, s.dir)
	if err != nil {
		return nil, err
	}
	// The log is written as in production, and discarded.
	running, err := b.start(ctx, slices.Concat(environ, variables, []string{"LISTEN_ADDR=127.0.0.1:0"}), io.Discard)
	if err != nil {
		return nil, err
	}
	server.bridge = running
	server.api = server.bridge.Client()
	server.plain, err = openYardstick(ctx, s.file())
	return server, err
}

// environ returns the environment of a bridge over a data directory.
func (b *bench) environ(network *simnet.Network, dir string) ([]string, error) {
	file := filepath.Join(b.temp, "network.json")
	if err := network.WriteNetworkFile(file); err != nil {
		return nil, err
	}
	return []string{
		"BRIDGE_TOKEN=" + token, "DATA_DIR=" + dir, "WA_NETWORK_FILE=" + file, "PHONE_NUMBER=" + ownerNumber, "LOG_FORMAT=json",
	}, nil
}

func (s *server) stop() error {
	var errs []error
	if s.plain != nil {
		errs = append(errs, s.plain.Close())
	}
	if s.bridge != nil {
		errs = append(errs, s.bridge.Stop())
	}
	if s.network != nil {
		s.network.Close()
	}
	return errors.Join(errs...)
}

// read requests a path and reads the whole answer.
func (s *server) read(ctx context.Context, path string) ([]byte, error) {
	return read(ctx, s.api, path)
}

// plainWay is the plain way to an answer.
type plainWay func(context.Context) ([]string, error)

// task is a kind of request, and the plain way to the same answers.
type task struct {
	part, name string
	goal       Goal
	paths      []string
	plain      []plainWay // beside paths; may be empty
}

// measure times a task: first every request once, so that the caches are warm,
// then ours and the plain way in turn, so that both see the same machine.
func (b *bench) measure(ctx context.Context, s *server, t task) error {
	for _, path := range t.paths {
		if _, err := s.read(ctx, path); err != nil {
			return err
		}
	}
	var ours, plain []time.Duration
	every := max(1, b.command.Requests/max(1, b.command.Scans))
	for i := range b.command.Requests {
		began := time.Now()
		if _, err := s.read(ctx, t.paths[i%len(t.paths)]); err != nil {
			return err
		}
		ours = append(ours, time.Since(began))
		if len(t.plain) == 0 || i%every != 0 {
			continue
		}
		began = time.Now()
		if _, err := t.plain[i/every%len(t.plain)](ctx); err != nil {
			return err
		}
		plain = append(plain, time.Since(began))
	}
	b.report.add(t, s.corpus.messages, ours, plain)
	return nil
}

// rate returns how many requests a second a number of concurrent callers get answered.
func (s *server) rate(ctx context.Context, path string, callers int, period time.Duration) (float64, error) {
	return callAtOnce(callers, period, func(int) error {
		_, err := s.read(ctx, path)
		return err
	})
}

// callAtOnce calls from a number of callers for a period, each one call after
// the other, and returns how many calls a second ended.
func callAtOnce(callers int, period time.Duration, call func(caller int) error) (float64, error) {
	var ended atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, callers)
	began := time.Now()
	for i := range callers {
		all.Go(func() {
			for time.Since(began) < period && errs[i] == nil {
				if errs[i] = call(i); errs[i] == nil {
					ended.Add(1)
				}
			}
		})
	}
	all.Wait()
	return float64(ended.Load()) / time.Since(began).Seconds(), errors.Join(errs...)
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// percentile returns a percentile of durations, in milliseconds.
func percentile(times []time.Duration, percent int) float64 {
	if len(times) == 0 {
		return 0
	}
	times = slices.Sorted(slices.Values(times))
	return float64(times[min(len(times)-1, len(times)*percent/100)].Microseconds()) / 1000
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
