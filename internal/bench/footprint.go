package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

const (
	benchStarts = 7
	// benchReaders read at the same time.
	benchReaders = 8
	benchGiveUp  = 30 * time.Second
)

// footprint is what a bridge needs besides time.
type footprint struct {
	start      []time.Duration
	idle, busy float64 // MB resident; busy at its highest
}

// measureFootprint runs the program as a process of its own, paired, over the
// store of many chats.
func (b *bench) measureFootprint(ctx context.Context) error {
	s, err := b.filled(ctx, b.command.Messages, b.command.Chats)
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
	for _, v := range []benchValue{
		{Name: "resident memory, idle", Value: f.idle, Unit: "MB", Goal: "≤ 40", Met: f.idle <= 40},
		{Name: "resident memory under read load, highest", Value: f.busy, Unit: "MB", Goal: "≤ 120", Met: f.busy <= 120},
		{Name: "start to first /healthz, median", Value: start, Unit: "ms", Goal: "≤ 100", Met: start <= 100},
		{Name: "this executable", Value: size, Unit: "MB", Goal: "≤ 35", Met: size <= 35},
	} {
		v.Part, v.Messages = "footprint", s.corpus.messages
		b.report.value(v)
	}
	return nil
}

func (b *bench) footprintOf(ctx context.Context, s *benchStore) (f footprint, err error) {
	network, err := simnet.New(context.WithoutCancel(ctx), simnet.Options{})
	if err != nil {
		return f, err
	}
	defer network.Close()
	device, err := b.pairChild(ctx, network, s)
	if err != nil {
		return f, fmt.Errorf("pair: %w", err)
	}
	for range benchStarts {
		child, err := b.startChild(ctx, network, s)
		if err != nil {
			return f, err
		}
		f.start = append(f.start, child.started)
		if err := child.stop(); err != nil {
			return f, err
		}
	}
	child, err := b.startChild(ctx, network, s)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, child.stop()) }()
	if err := device.WaitOnline(ctx); err != nil {
		return f, err
	}
	// Left alone for a while, it gives back what starting took.
	if err := wait(ctx, b.command.Period/2); err != nil {
		return f, err
	}
	if f.idle, err = child.memory("VmRSS"); err != nil {
		return f, err
	}
	if err := child.readMuch(ctx, b.command.Period); err != nil {
		return f, err
	}
	f.busy, err = child.memory("VmHWM")
	return f, err
}

// pairChild links the account of a store, so that the next starts are those of
// a bridge in use. A session of an earlier run belongs to another network.
func (b *bench) pairChild(ctx context.Context, network *simnet.Network, s *benchStore) (_ *simnet.Device, err error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(s.dir, "session.db"+suffix)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	owner, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: benchOwner, Name: "Owner"})
	if err != nil {
		return nil, err
	}
	child, err := b.startChild(ctx, network, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, child.stop()) }()
	device, err := child.pair(ctx, owner)
	if err != nil {
		return nil, err
	}
	return device, device.WaitSynced(ctx)
}

// benchChild is a bridge in a process of its own.
type benchChild struct {
	*benchServer
	cmd     *exec.Cmd
	log     bytes.Buffer
	started time.Duration // until it answered
}

func (b *bench) startChild(ctx context.Context, network *simnet.Network, s *benchStore) (*benchChild, error) {
	environ, err := b.environ(network, s.dir)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	child := &benchChild{benchServer: &benchServer{benchStore: s, api: client.New("http://"+address, benchToken)}}
	child.cmd = exec.Command(b.program, "serve")
	child.cmd.Env = append(environ, "LISTEN_ADDR="+address, "LOG_LEVEL=error")
	child.cmd.Stderr = &child.log
	began := time.Now()
	if err := child.cmd.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, benchGiveUp)
	defer cancel()
	if err := child.awaitHealth(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the bridge does not answer: %w", err), child.stop())
	}
	child.started = time.Since(began)
	return child, nil
}

// freeAddress is where nothing listens now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// awaitHealth asks every millisecond.
func (c *benchChild) awaitHealth(ctx context.Context) error {
	for {
		if _, err := c.read(ctx, "/healthz"); err == nil {
			return nil
		}
		if err := wait(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

func (c *benchChild) stop() error {
	c.api.Close()
	signalled := c.cmd.Process.Signal(syscall.SIGTERM)
	if err := c.cmd.Wait(); err != nil {
		return errors.Join(signalled, fmt.Errorf("the bridge ended badly: %w\n%s", err, c.log.Bytes()))
	}
	return signalled
}

// memory reads a size from the kernel's status of the process, in MB.
func (c *benchChild) memory(name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory is only measured on Linux: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name+":" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("the kernel does not tell %s", name)
}

// readMuch reads pages and searches from many callers at once.
func (c *benchChild) readMuch(ctx context.Context, period time.Duration) error {
	var paths []string
	for n := range 200 {
		words := c.corpus.words[n%len(benchLanguages)]
		chat := c.corpus.chats[n*7%len(c.corpus.chats)].jid
		paths = append(paths, searchPath(words[n%40]), searchPath(words[300+n]), searchPath(words[benchWords-1-n]),
			historyPath(chat)+"?limit=1000", historyPath(chat)+"?limit=100", fmt.Sprintf("/api/chats?limit=500&offset=%d", n))
	}
	began := time.Now()
	var all sync.WaitGroup
	errs := make([]error, benchReaders)
	for i := range errs {
		all.Go(func() {
			for n := i; time.Since(began) < period && errs[i] == nil; n += benchReaders {
				errs[i] = c.readAny(ctx, paths[n%len(paths)])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// readAny reads what may not be there: not every chat of a small store has got
// messages.
func (c *benchChild) readAny(ctx context.Context, path string) error {
	_, err := c.read(ctx, path)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		return nil
	}
	return err
}
