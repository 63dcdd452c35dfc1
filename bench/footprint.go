package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

const (
	// mostStarts is the number of starts that are timed, unless there are fewer requests.
	mostStarts = 7
	// readers counts the concurrent readers.
	readers = 8
)

// footprint holds a bridge's needs besides time.
type footprint struct {
	start      []time.Duration
	idle, busy float64 // resident MB; busy is the highest
}

// measureFootprint runs the program as a separate process, paired, over the store
// with many chats.
func (b *bench) measureFootprint(ctx context.Context) error {
	s, err := b.filled(ctx, b.options.messages, b.options.chats)
	if err != nil {
		return err
	}
	f, err := b.footprintOf(ctx, s)
	if err != nil {
		return err
	}
	program, err := os.Stat(b.program)
	if err != nil {
		return err
	}
	size, start := float64(program.Size())/1e6, percentile(f.start, 50)
	for _, v := range []Value{
		{Name: "resident memory, idle", Value: f.idle, Unit: "MB", Goal: "≤ 28", Met: f.idle <= 28},
		{Name: "resident memory under read load, highest", Value: f.busy, Unit: "MB", Goal: "≤ 90", Met: f.busy <= 90},
		{Name: "start to first /healthz, median", Value: start, Unit: "ms", Goal: "≤ 100", Met: start <= 100},
		{Name: "this executable", Value: size, Unit: "MB", Goal: "≤ 48", Met: size <= 48},
	} {
		v.Part, v.Messages = "footprint", s.corpus.messages
		b.report.value(v)
	}
	return nil
}

func (b *bench) footprintOf(ctx context.Context, s *filledStore) (f footprint, err error) {
	network, err := simnet.New(context.WithoutCancel(ctx), simnet.Options{})
	if err != nil {
		return f, err
	}
	defer network.Close()
	device, err := b.pairChild(ctx, network, s)
	if err != nil {
		return f, fmt.Errorf("pair: %w", err)
	}
	for range min(mostStarts, b.options.requests) {
		child, err := b.startChild(ctx, network, s)
		if err != nil {
			return f, err
		}
		f.start = append(f.start, child.started)
		if err := child.end(); err != nil {
			return f, err
		}
	}
	child, err := b.startChild(ctx, network, s)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, child.end()) }()
	if err := device.WaitOnline(ctx); err != nil {
		return f, err
	}
	// By then it has given back the memory of its start.
	if err := wait(ctx, b.options.period/2); err != nil {
		return f, err
	}
	if f.idle, err = megabytes(child.memory("VmRSS")); err != nil {
		return f, err
	}
	if err := child.readMuch(ctx, b.options.period); err != nil {
		return f, err
	}
	f.busy, err = megabytes(child.memory("VmHWM"))
	return f, err
}

func megabytes(bytes int64, err error) (float64, error) { return float64(bytes) / 1e6, err }

// pairChild pairs the bridge of a store, so that later starts are those of a
// bridge in use. It replaces the session of an earlier run, which belongs to
// another network.
func (b *bench) pairChild(ctx context.Context, network *simnet.Network, s *filledStore) (_ *simnet.Device, err error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(s.dir, "session.db"+suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	owner, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: ownerNumber, Name: "Owner"})
	if err != nil {
		return nil, err
	}
	child, err := b.startChild(ctx, network, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, child.end()) }()
	device, err := child.pair(ctx, owner)
	if err != nil {
		return nil, err
	}
	return device, device.WaitSynced(ctx)
}

// childServer is a child over a filled store.
type childServer struct {
	*server
	*child
}

func (b *bench) startChild(ctx context.Context, network *simnet.Network, s *filledStore) (*childServer, error) {
	environ, err := b.environ(network, s.dir)
	if err != nil {
		return nil, err
	}
	child, err := startChild(ctx, b.program, environ)
	if err != nil {
		return nil, err
	}
	return &childServer{&server{filledStore: s, api: child.client}, child}, nil
}

// readMuch reads pages and searches from many callers at once.
func (c *childServer) readMuch(ctx context.Context, period time.Duration) error {
	var paths []string
	for n := range 200 {
		words := c.corpus.words[n%len(languages)]
		chat := c.corpus.chats[n*7%len(c.corpus.chats)].jid
		paths = append(paths, searchPath(words[n%40]), searchPath(words[300+n]), searchPath(words[vocabularySize-1-n]),
			client.HistoryPath(chat)+"?limit=1000", client.HistoryPath(chat)+"?limit=100", fmt.Sprintf("/api/chats?limit=500&offset=%d", n))
	}
	began := time.Now()
	var all sync.WaitGroup
	errs := make([]error, readers)
	for i := range errs {
		all.Go(func() {
			for n := i; time.Since(began) < period && errs[i] == nil; n += readers {
				errs[i] = c.readAny(ctx, paths[n%len(paths)])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// readAny reads a path that may not exist: some chats of a small store have no
// messages.
func (c *childServer) readAny(ctx context.Context, path string) error {
	_, err := c.read(ctx, path)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return nil
	}
	return err
}
