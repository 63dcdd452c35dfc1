package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bridged/internal/client"
	"bridged/internal/simnet"
)

const token = "bench-0123456789abcdef"

// server runs a bridge over a filled store, with a plain reader of the same file
// for comparison.
type server struct {
	*filledStore
	child   *child
	api     *client.Client
	plain   *yardstick
	network *simnet.Network
	other   *child // the other build over its own store, if any
}

// serve runs the bridge with further variables on a network that it is not paired
// with, and the other build if there is one.
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
	// Write the log as in production.
	environ = slices.Concat(environ, []string{"LOG_LEVEL=info"}, variables)
	if server.child, err = startChild(ctx, b.program, environ); err != nil {
		return nil, err
	}
	server.api = server.child.client
	if b.options.against != "" {
		if server.other, err = b.serveOther(ctx, s, environ); err != nil {
			return nil, fmt.Errorf("%s: %w", b.options.against, err)
		}
	}
	server.plain, err = openYardstick(ctx, s.file())
	return server, err
}

// serveOther runs the other build over a copy of the store that it has filled in
// --against-dir, or else of this build's: an older build cannot read a newer
// one's store.
func (b *bench) serveOther(ctx context.Context, s *filledStore, environ []string) (*child, error) {
	from := s.dir
	if b.options.againstDir != "" {
		from = filepath.Join(b.options.againstDir, filepath.Base(s.dir))
	}
	dir, err := os.MkdirTemp(b.temp, "other-*")
	if err != nil {
		return nil, err
	}
	if err := copyFile(filepath.Join(dir, "bridged.db"), filepath.Join(from, "bridged.db")); err != nil {
		return nil, err
	}
	return startChild(ctx, b.options.against, slices.Concat(environ, []string{"DATA_DIR=" + dir, "PHONE_NUMBER=" + otherNumber}))
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
	for _, child := range []*child{s.child, s.other} {
		if child != nil {
			errs = append(errs, child.end())
		}
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

// plainWay answers a request the plain way.
type plainWay func(context.Context) ([]string, error)

// task is a kind of request, with the plain way to the same answers.
type task struct {
	part, name string
	goal       Goal
	paths      []string
	plain      []plainWay // one for each path; may be empty
	beside     []string   // what each path is compared with instead, of the same bridge or the other build
}

// besideOf returns the comparison for each path of a task: the other build, or
// else the plain way.
func (s *server) besideOf(t task) []plainWay {
	if s.isScanned(t) {
		return t.plain
	}
	paths, from := t.paths, s.api
	if t.beside != nil {
		paths = t.beside
	}
	if s.other != nil {
		from = s.other.client
	}
	ways := make([]plainWay, len(paths))
	for i := range paths {
		path := paths[i]
		if s.other == nil { // another one, for which the bridge has just read nothing
			path = paths[(i+len(paths)/2)%len(paths)]
		}
		ways[i] = func(ctx context.Context) ([]string, error) {
			_, err := read(ctx, from, path)
			return nil, err
		}
	}
	return ways
}

// isScanned reports whether a task is compared with the plain way, which takes seconds.
func (s *server) isScanned(t task) bool { return s.other == nil && t.beside == nil }

// measure times a task. A first round of its requests warms the caches; then ours
// and the comparison take turns, so that both see the same machine.
func (b *bench) measure(ctx context.Context, s *server, t task) error {
	beside := s.besideOf(t)
	every := max(1, b.options.requests/max(1, b.options.scans))
	if !s.isScanned(t) {
		every = 1
	}
	for i, path := range t.paths[:min(len(t.paths), b.options.requests)] {
		if _, err := s.read(ctx, path); err != nil {
			return err
		}
		if !s.isScanned(t) {
			if _, err := beside[i](ctx); err != nil {
				return fmt.Errorf("the comparison: %w", err)
			}
		}
	}
	var ours, others []time.Duration
	for i := range b.options.requests {
		began := time.Now()
		if _, err := s.read(ctx, t.paths[i%len(t.paths)]); err != nil {
			return err
		}
		ours = append(ours, time.Since(began))
		if len(beside) == 0 || i%every != 0 {
			continue
		}
		began = time.Now()
		if _, err := beside[i/every%len(beside)](ctx); err != nil {
			return err
		}
		others = append(others, time.Since(began))
	}
	b.report.add(t, s.corpus.messages, ours, others)
	return nil
}

// rate returns the requests a second that a number of concurrent callers get
// answered.
func (s *server) rate(ctx context.Context, path string, callers int, period time.Duration) (float64, error) {
	return callAtOnce(callers, period, func(int) error {
		_, err := s.read(ctx, path)
		return err
	})
}

// callAtOnce makes concurrent callers call for a period, each one call after the
// other, and returns the calls a second.
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
