package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bridged/internal/simnet"
)

// storedInEach limits the messages stored in each of many bridges.
const storedInEach = 100_000

// neighbour is one of many bridges, and its account.
type neighbour struct {
	dir    string
	phone  *simnet.Phone
	device *simnet.Device
	child  *child
}

// measureBridges runs many bridges side by side, each a process with its own
// account and store, and measures the cost of each.
func (b *bench) measureBridges(ctx context.Context) (err error) {
	network, err := simnet.New(context.WithoutCancel(ctx), simnet.Options{})
	if err != nil {
		return err
	}
	defer network.Close()
	neighbours, err := b.neighbours(ctx, network, "bridges")
	defer func() {
		for _, n := range neighbours {
			err = errors.Join(err, n.end())
		}
	}()
	if err != nil {
		return err
	}
	if err := wait(ctx, b.options.period/2); err != nil {
		return err
	}
	return b.recordMemory("bridges", neighbours)
}

// neighbours starts the bridges of a part, one after the other. The variables are
// added to each one's environment.
func (b *bench) neighbours(ctx context.Context, network *simnet.Network, part string, variables ...string) (list []*neighbour, err error) {
	filled, err := b.filled(ctx, min(b.options.messages, storedInEach), b.options.chats)
	if err != nil {
		return nil, err
	}
	var starts []time.Duration
	for i := range b.options.bridges {
		n := &neighbour{dir: filepath.Join(b.temp, fmt.Sprint("bridge-", i))}
		list = append(list, n)
		if err := b.startNeighbour(ctx, network, filled, n, numberAfter(15554000000, i), variables); err != nil {
			return list, fmt.Errorf("bridge %d of %d: %w", i+1, b.options.bridges, err)
		}
		starts = append(starts, n.child.started)
	}
	b.report.value(Value{Part: part, Name: "start to first /healthz, median", Messages: filled.corpus.messages, Value: percentile(starts, 50), Unit: "ms"})
	return list, nil
}

// startNeighbour gives a bridge a copy of the filled store and an account.
func (b *bench) startNeighbour(ctx context.Context, network *simnet.Network, filled *filledStore, n *neighbour, number string, variables []string) (err error) {
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(n.dir, "bridged.db"), filled.file()); err != nil {
		return err
	}
	environ, err := b.environ(network, n.dir)
	if err != nil {
		return err
	}
	if n.child, err = startChild(ctx, b.program, append(append(environ, variables...), "PHONE_NUMBER="+number)); err != nil {
		return err
	}
	if n.phone, err = network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: "Owner"}); err != nil {
		return err
	}
	if n.device, err = n.child.pair(ctx, n.phone); err != nil {
		return err
	}
	return n.device.WaitSynced(ctx)
}

func copyFile(to, from string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

// end stops the bridge and removes its store: a hundred take gigabytes.
func (n *neighbour) end() error {
	var err error
	if n.child != nil {
		err = n.child.end()
	}
	return errors.Join(err, os.RemoveAll(n.dir))
}

// recordMemory records the memory that the kernel attributes to each bridge: its
// share of shared pages, and its own.
func (b *bench) recordMemory(part string, neighbours []*neighbour) error {
	var proportional, private []float64
	for _, n := range neighbours {
		pss, err := megabytes(n.child.rollup("Pss"))
		if err != nil {
			return err
		}
		own, err := megabytes(n.child.rollup("Private_Clean", "Private_Dirty"))
		if err != nil {
			return err
		}
		proportional, private = append(proportional, pss), append(private, own)
	}
	var all float64
	for _, pss := range proportional {
		all += pss
	}
	mean := all / float64(len(proportional))
	of := fmt.Sprintf(", %d bridges", len(neighbours))
	for _, v := range []Value{
		{Name: "proportional set size of each, mean" + of, Value: mean, Unit: "MB", Goal: "≤ 25", Met: mean <= 25},
		{Name: "proportional set size, all together" + of, Value: all, Unit: "MB"},
		{Name: "pages of its own, median" + of, Value: median(private), Unit: "MB"},
	} {
		v.Part = part
		b.report.value(v)
	}
	return nil
}

// rollup returns the sum of sizes in the kernel's smaps_rollup of the process, in
// bytes.
func (c *child) rollup(names ...string) (sum int64, err error) {
	data, err := os.ReadFile(c.proc("smaps_rollup"))
	if err != nil {
		return 0, fmt.Errorf("proportional sizes are only measured on Linux: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		for _, name := range names {
			if len(fields) == 3 && fields[0] == name+":" {
				kib, err := strconv.ParseInt(fields[1], 10, 64)
				if err != nil {
					return 0, err
				}
				sum += kib << 10
			}
		}
	}
	return sum, nil
}
