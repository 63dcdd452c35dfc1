package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/client"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

const (
	// storedAtMost is how many messages the bridge has already when more come
	// in, at most.
	storedAtMost = 100_000
	// senders write at the same time to the account, and one message of
	// onePerGroup to a group.
	senders     = 4
	onePerGroup = 10
	// readsASecond is how many reads a second are asked for while messages
	// come in.
	readsASecond = 100
)

// ingest is a stage with two accounts that know the same people: a bridge and
// a plain client with the same rules, which handles nothing.
type ingest struct {
	*bench
	network  *simnet.Network
	server   *server
	contacts []*simnet.Phone
	corpus   *corpus
	written  int // by the contacts, so far
	bare     ingestSide
	bridge   ingestSide
}

// ingestSide is one of the two.
type ingestSide struct {
	device *simnet.Device
	chats  [2]simnet.JID // the account, and a group
	live   []float64     // messages a second, of each round
	queued []float64
	// reconnect dials at once what has lost its socket.
	reconnect func(context.Context) error
}

// measureIngest measures incoming messages, as they are written and out of the
// network's queue, to a plain client and to the bridge in turn.
func (b *bench) measureIngest(ctx context.Context) (err error) {
	if err := b.storeAlone(ctx); err != nil {
		return err
	}
	// What comes in would change a store that is kept.
	filled, err := b.filledIn(ctx, filepath.Join(b.temp, "ingest"), min(b.command.Messages, storedAtMost), b.command.Chats)
	if err != nil {
		return err
	}
	server, err := b.serve(ctx, filled)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	i := &ingest{bench: b, network: server.network, server: server, corpus: filled.corpus}
	bare, err := i.setUp(ctx)
	if err != nil {
		return fmt.Errorf("set up the network: %w", err)
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	for range i.rounds() {
		for _, side := range []*ingestSide{&i.bare, &i.bridge} {
			if err := i.measureLive(ctx, side); err != nil {
				return err
			}
			if err := i.measureQueued(ctx, side); err != nil {
				return err
			}
		}
	}
	i.compare("as they are written", i.bare.live, i.bridge.live)
	i.compare("from the network's queue", i.bare.queued, i.bridge.queued)
	return i.readsMeanwhile(ctx)
}

// batch returns how many messages come in at once.
func (i *ingest) batch() int { return min(2000, i.command.Messages/20) }

// rounds returns how often everything is measured.
func (i *ingest) rounds() int { return max(1, i.command.Requests/60) }

// storeAlone saves messages as they come from the network: a durable
// transaction each.
func (b *bench) storeAlone(ctx context.Context) (err error) {
	s, err := store.Open(ctx, store.Options{Path: filepath.Join(b.temp, "alone.db"), Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c := newCorpus(b.command.Seed, b.command.Messages, b.command.Chats)
	if err := saveAll(ctx, s, c.people()); err != nil {
		return err
	}
	var times []time.Duration
	count := min(10_000, b.command.Messages)
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

// setUp pairs both sides and makes everybody begin a session with them.
func (i *ingest) setUp(ctx context.Context) (_ *simnet.Bare, err error) {
	for n := range senders {
		phone, err := i.network.NewPhone(ctx, simnet.PhoneOptions{Number: fmt.Sprint(int64(15550100910) + int64(n)), Name: fmt.Sprint("Contact ", n)})
		if err != nil {
			return nil, err
		}
		i.contacts = append(i.contacts, phone)
	}
	quiet, err := i.account(ctx, &i.bare, "15550100901")
	if err != nil {
		return nil, err
	}
	owner, err := i.account(ctx, &i.bridge, ownerNumber)
	if err != nil {
		return nil, err
	}
	bare, err := quiet.LinkBare(ctx, filepath.Join(i.temp, "bare.db"))
	if err != nil {
		return nil, err
	}
	i.bare.device, i.bare.reconnect = bare.Device, bare.Reconnect
	i.bridge.reconnect = i.server.api.Reconnect
	if i.bridge.device, err = i.server.pair(ctx, owner); err != nil {
		return nil, errors.Join(err, bare.Close())
	}
	for _, side := range []*ingestSide{&i.bare, &i.bridge} {
		if err := i.begin(ctx, side); err != nil {
			return nil, errors.Join(err, bare.Close())
		}
	}
	return bare, nil
}

func (i *ingest) begin(ctx context.Context, side *ingestSide) error {
	if err := side.device.WaitSynced(ctx); err != nil {
		return err
	}
	if _, err := i.write(ctx, side, 4*senders); err != nil {
		return err
	}
	return side.device.WaitQuiet(ctx)
}

// account makes the account of one side, and its group with the contacts.
func (i *ingest) account(ctx context.Context, side *ingestSide, number string) (*simnet.Phone, error) {
	phone, err := i.network.NewPhone(ctx, simnet.PhoneOptions{Number: number, Name: "Owner"})
	if err != nil {
		return nil, err
	}
	group, err := phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "Everybody", Members: i.contacts})
	if err != nil {
		return nil, err
	}
	side.chats = [2]simnet.JID{phone.PN(), group.JID()}
	return phone, nil
}

// pair pairs the bridge through its API.
func (s *server) pair(ctx context.Context, owner *simnet.Phone) (*simnet.Device, error) {
	code, err := s.api.Pair(ctx, "")
	if err != nil {
		return nil, err
	}
	return owner.EnterPairingCode(ctx, code.Code)
}

// write makes the contacts write a number of messages to one side, some of them to
// its group.
func (i *ingest) write(ctx context.Context, side *ingestSide, count int) ([]string, error) {
	texts := make([]string, count)
	r := rand.New(rand.NewPCG(i.corpus.seed, uint64(i.written)))
	for n := range texts {
		texts[n] = i.corpus.text(r.IntN(len(languages)))
	}
	i.written += count
	grouped := max(senders, count/onePerGroup)
	var all []string
	for n, share := range [][]string{texts[grouped:], texts[:grouped]} {
		ids, err := simnet.Burst(ctx, i.contacts, side.chats[n], len(share), func(n int) string { return share[n] })
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	return all, nil
}

// measureLive measures messages that come in while they are written: until the
// last one is acknowledged.
func (i *ingest) measureLive(ctx context.Context, side *ingestSide) error {
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

// measureQueued measures messages that were written while the socket was away:
// from the moment when it asks for them, so that writing costs nothing.
func (i *ingest) measureQueued(ctx context.Context, side *ingestSide) error {
	ids, err := i.queue(ctx, side)
	if err != nil {
		return err
	}
	rate, err := i.drain(ctx, side, ids)
	side.queued = append(side.queued, rate)
	return err
}

// queue cuts a side's socket and makes messages wait for it.
func (i *ingest) queue(ctx context.Context, side *ingestSide) ([]string, error) {
	i.network.RefuseSockets(http.StatusServiceUnavailable)
	side.device.Drop()
	if err := side.device.WaitOffline(ctx); err != nil {
		return nil, err
	}
	return i.write(ctx, side, i.batch())
}

func (i *ingest) drain(ctx context.Context, side *ingestSide, ids []string) (float64, error) {
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

// compare enters the medians of both sides, and the median of their ratios.
func (i *ingest) compare(how string, bare, bridge []float64) {
	ratios := make([]float64, len(bare))
	for n := range ratios {
		ratios[n] = 100 * bridge[n] / bare[n]
	}
	enter := func(name string, value float64, unit, goal string) {
		i.report.value(Value{Part: "ingest", Name: name + ", " + how, Value: value, Unit: unit, Goal: goal, Met: value >= 75})
	}
	enter("whatsmeow alone", median(bare), "messages/s", "")
	enter("the whole bridge", median(bridge), "messages/s", "")
	enter("the bridge's share", median(ratios), "%", "≥ 75")
}

// readsMeanwhile compares how long reads take when nothing happens and while
// messages come in from the queue.
func (i *ingest) readsMeanwhile(ctx context.Context) error {
	quiet, err := i.readFor(ctx, func() error { return wait(ctx, i.command.Period/2) })
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

// readFor reads pages and searches at a steady pace while f runs, and returns
// how long each took.
func (i *ingest) readFor(ctx context.Context, f func() error) ([]time.Duration, error) {
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
