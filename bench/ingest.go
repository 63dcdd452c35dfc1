package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/store"
)

// readsASecond is the rate of reads while messages come in.
const readsASecond = 100

// ingest measures how fast both sides of a stage take messages in.
type ingest struct{ *stage }

// measureIngest measures incoming messages, live and out of the network's queue,
// with a plain client and the bridge in turn.
func (b *bench) measureIngest(ctx context.Context) (err error) {
	if err := b.storeAlone(ctx); err != nil {
		return err
	}
	stage, err := b.newStage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.close()) }()
	i := ingest{stage}
	for range i.rounds() {
		for _, side := range i.sides() {
			if err := i.measureLive(ctx, side); err != nil {
				return err
			}
			if err := i.measureQueued(ctx, side); err != nil {
				return err
			}
		}
	}
	other := i.other
	if other == nil {
		other = &side{}
	}
	i.compare("as they are written", i.bare.live, i.bridge.live, other.live)
	i.compare("from the network's queue", i.bare.queued, i.bridge.queued, other.queued)
	return i.readsMeanwhile(ctx)
}

// batch returns the number of messages in one round.
func (i ingest) batch() int { return min(2000, i.options.messages/20) }

// storeAlone saves messages as they come from the network, each in a durable
// transaction.
func (b *bench) storeAlone(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.temp, "alone-*")
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Path: filepath.Join(dir, "bridged.db"), Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c := newCorpus(b.options.seed, b.options.messages, b.options.chats)
	if err := saveAll(ctx, s, c.people()); err != nil {
		return err
	}
	var times []time.Duration
	count := min(10_000, b.options.messages)
	began := time.Now()
	for n := range count {
		facts := c.facts(n)
		before := time.Now()
		if err := s.Save(ctx, facts...); err != nil {
			return err
		}
		times = append(times, time.Since(before))
	}
	rate := float64(count) / time.Since(began).Seconds()
	name := "store alone, a durable transaction each"
	b.report.value(Value{Part: "ingest", Name: name, Value: rate, Unit: "messages/s"})
	b.report.value(Value{Part: "ingest", Name: name + ", p50", Value: percentile(times, 50), Unit: "ms"})
	b.report.value(Value{Part: "ingest", Name: name + ", p99", Value: percentile(times, 99), Unit: "ms"})
	return nil
}

// measureLive measures messages that come in live, until the last one is
// acknowledged.
func (i ingest) measureLive(ctx context.Context, side *side) error {
	began := time.Now()
	ids, err := i.write(ctx, side, i.batch())
	if err != nil {
		return err
	}
	if err := side.device.WaitAcknowledged(ctx, ids...); err != nil {
		return err
	}
	side.live = append(side.live, float64(len(ids))/time.Since(began).Seconds())
	return nil
}

// measureQueued measures messages that were written while the socket was
// disconnected, from the moment it asks for them, so that writing them costs
// nothing.
func (i ingest) measureQueued(ctx context.Context, side *side) error {
	ids, err := i.queue(ctx, side)
	if err != nil {
		return err
	}
	rate, err := i.drain(ctx, side, ids)
	side.queued = append(side.queued, rate)
	return err
}

// queue cuts a side's socket and queues messages for it.
func (i ingest) queue(ctx context.Context, side *side) ([]string, error) {
	i.network.RefuseSockets(http.StatusServiceUnavailable)
	side.device.Drop()
	if err := side.device.WaitOffline(ctx); err != nil {
		return nil, err
	}
	return i.write(ctx, side, i.batch())
}

func (i ingest) drain(ctx context.Context, side *side, ids []string) (float64, error) {
	i.network.AcceptSockets()
	if err := side.reconnect(ctx); err != nil {
		return 0, err
	}
	if err := side.device.WaitOnline(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	err := side.device.WaitAcknowledged(ctx, ids...)
	return float64(len(ids)) / time.Since(began).Seconds(), err
}

// compare records the medians of all sides, and of their ratios.
func (i ingest) compare(how string, bare, bridge, other []float64) {
	ratios := make([]float64, len(bare))
	for n := range ratios {
		ratios[n] = 100 * bridge[n] / bare[n]
	}
	enter := func(name string, value float64, unit, goal string) {
		i.report.value(Value{Part: "ingest", Name: name + ", " + how, Value: value, Unit: unit, Goal: goal, Met: value >= 90})
	}
	enter("whatsmeow alone", median(bare), "messages/s", "")
	enter("the whole bridge", median(bridge), "messages/s", "")
	enter("the bridge's share", median(ratios), "%", "≥ 90")
	if len(other) == 0 {
		return
	}
	for n := range ratios {
		ratios[n] = 100 * bridge[n] / other[n]
	}
	enter("the other build", median(other), "messages/s", "")
	enter("of the other build's rate", median(ratios), "%", "")
}

// readsMeanwhile compares the times of reads while idle and while messages come
// in from the queue.
func (i ingest) readsMeanwhile(ctx context.Context) error {
	quiet, err := i.readFor(ctx, func() error { return wait(ctx, i.options.period/2) })
	if err != nil {
		return err
	}
	var busy []time.Duration
	for range i.rounds() {
		ids, err := i.queue(ctx, &i.bridge)
		if err != nil {
			return err
		}
		times, err := i.readFor(ctx, func() error {
			_, err := i.drain(ctx, &i.bridge, ids)
			return err
		})
		if err != nil {
			return err
		}
		busy = append(busy, times...)
	}
	ratio := percentile(busy, 99) / percentile(quiet, 99)
	for _, v := range []Value{
		{Name: "reads when it is quiet, p50", Value: percentile(quiet, 50), Unit: "ms"},
		{Name: "reads when it is quiet, p99", Value: percentile(quiet, 99), Unit: "ms"},
		{Name: "reads while messages come in, p50", Value: percentile(busy, 50), Unit: "ms"},
		{Name: "reads while messages come in, p99", Value: percentile(busy, 99), Unit: "ms"},
		{Name: "reads while messages come in, p99", Value: ratio, Unit: "times quiet", Goal: "≤ 3", Met: ratio <= 3},
	} {
		v.Part, v.Messages = "ingest", i.corpus.messages
		i.report.value(v)
	}
	return nil
}

// readFor reads pages and searches at a steady pace while f runs, and returns the
// time of each.
func (i ingest) readFor(ctx context.Context, f func() error) ([]time.Duration, error) {
	paths := []string{
		client.HistoryPath(i.corpus.chats[0].jid), "/api/chats", client.HistoryPath(i.corpus.chats[len(i.corpus.chats)/10].jid),
		searchPath(i.corpus.words[0][5]), searchPath(i.corpus.words[1][900]), searchPath(languages[0].absent[0]),
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	ticker := time.NewTicker(time.Second / readsASecond)
	defer ticker.Stop()
	var times []time.Duration
	for n := 0; ; n++ {
		select {
		case err := <-done:
			return times, err
		case <-ticker.C:
		}
		began := time.Now()
		if _, err := i.server.read(ctx, paths[n%len(paths)]); err != nil {
			return times, errors.Join(err, <-done)
		}
		times = append(times, time.Since(began))
	}
}
