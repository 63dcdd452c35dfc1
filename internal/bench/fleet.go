package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"bridged/internal/simnet"
)

const (
	// fleetRate is how many messages a second come in to all bridges together
	// while the time to a consumer is measured.
	fleetRate = 50
	// clusterSize is from how many servers on each event is kept by three.
	clusterSize = 3
)

// fleetBench is many bridges on one NATS, the people who write to them, and
// who listens.
type fleetBench struct {
	*bench
	neighbours []*neighbour
	writers    []*simnet.Phone
	audience   *audience
	sent       int
}

// measureFleet runs many bridges that publish to NATS, and measures how long a
// message takes to a consumer of all of them, how many events go through, and
// what memory each takes.
func (b *bench) measureFleet(ctx context.Context) (err error) {
	if b.command.NATS == "" {
		return errors.New("--nats must name the servers, as NATS_URL does; go run ./internal/fleet/fleettest/servers runs three")
	}
	network, err := simnet.New(context.WithoutCancel(ctx), simnet.Options{})
	if err != nil {
		return err
	}
	defer network.Close()
	f := &fleetBench{bench: b}
	prefix := "bench" + strconv.FormatInt(time.Now().UnixNano(), 36)
	replicas := 1
	if strings.Count(b.command.NATS, ",")+1 >= clusterSize {
		replicas = clusterSize
	}
	f.neighbours, err = b.neighbours(ctx, network, "fleet", "NATS_URL="+b.command.NATS, "NATS_PREFIX="+prefix, "NATS_REPLICAS="+strconv.Itoa(replicas))
	defer func() {
		for _, n := range f.neighbours {
			err = errors.Join(err, n.end())
		}
	}()
	if err != nil {
		return err
	}
	if f.audience, err = listen(ctx, b.command.NATS, prefix); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.audience.close()) }()
	if err := f.meet(ctx, network); err != nil {
		return err
	}
	return f.measure(ctx)
}

// meet makes people with phones who have written to every account before.
func (f *fleetBench) meet(ctx context.Context, network *simnet.Network) error {
	for i := range senders {
		phone, err := network.NewPhone(ctx, simnet.PhoneOptions{Number: numberAfter(15553000000, i), Name: fmt.Sprint("Writer ", i)})
		if err != nil {
			return err
		}
		f.writers = append(f.writers, phone)
	}
	for i := range len(f.writers) * len(f.neighbours) {
		if err := f.write(ctx, i%len(f.writers), i/len(f.writers)); err != nil {
			return err
		}
	}
	f.sent += len(f.writers) * len(f.neighbours)
	return f.heard(ctx)
}

// write writes to a bridge's account when it is.
func (f *fleetBench) write(ctx context.Context, writer, bridge int) error {
	to := f.neighbours[bridge%len(f.neighbours)].phone.PN()
	_, err := f.writers[writer].SendText(ctx, to, strconv.FormatInt(time.Now().UnixNano(), 10))
	return err
}

// heard waits until all that was written has come to the consumer.
func (f *fleetBench) heard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 4*giveUp)
	defer cancel()
	return f.audience.await(ctx, f.sent)
}

// measure measures at a moderate rate, and then as fast as everybody can.
func (f *fleetBench) measure(ctx context.Context) error {
	f.audience.begin()
	ticker := time.NewTicker(time.Second / fleetRate)
	defer ticker.Stop()
	for end := time.Now().Add(f.command.Period); time.Now().Before(end); f.sent++ {
		<-ticker.C
		if err := f.write(ctx, f.sent%len(f.writers), f.sent); err != nil {
			return err
		}
	}
	if err := f.heard(ctx); err != nil {
		return err
	}
	steady := f.audience.begin()
	of := fmt.Sprintf(", %d bridges", len(f.neighbours))
	f.fleetValue(fmt.Sprintf("written until heard, median%s, %d messages a second", of, fleetRate), percentile(steady.times, 50), "ms")
	f.fleetValue(fmt.Sprintf("written until heard, 99 of 100%s, %d messages a second", of, fleetRate), percentile(steady.times, 99), "ms")
	began := time.Now()
	if err := f.flood(ctx); err != nil {
		return err
	}
	if err := f.heard(ctx); err != nil {
		return err
	}
	took, full := time.Since(began).Seconds(), f.audience.begin()
	f.fleetValue("messages from writers to the consumer"+of, float64(len(full.times))/took, "/s")
	f.fleetValue("events of all types to the consumer"+of, float64(full.events)/took, "/s")
	return f.recordMemory("fleet", f.neighbours)
}

func (f *fleetBench) fleetValue(name string, value float64, unit string) {
	f.report.value(Value{Part: "fleet", Name: name, Value: value, Unit: unit})
}

// flood has everybody write as fast as they can.
func (f *fleetBench) flood(ctx context.Context) error {
	var all errgroup.Group
	counts := make([]int, len(f.writers))
	end := time.Now().Add(f.command.Period)
	for w := range f.writers {
		all.Go(func() error {
			for time.Now().Before(end) {
				if err := f.write(ctx, w, w+counts[w]); err != nil {
					return err
				}
				counts[w]++
			}
			return nil
		})
	}
	err := all.Wait()
	for _, n := range counts {
		f.sent += n
	}
	return err
}
