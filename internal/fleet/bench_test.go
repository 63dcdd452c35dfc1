package fleet

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/fleet/fleettest"
)

// BenchmarkPublish measures what three servers on this machine take, of many
// accounts in one stream. The bridges are this process's, without WhatsApp and without a
// disk.
func BenchmarkPublish(b *testing.B) {
	for _, accounts := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("accounts=%d", accounts), func(b *testing.B) { benchmarkPublish(b, accounts) })
	}
}

// publishers is how many accounts publish at a time; the others have before.
const publishers = 16

func benchmarkPublish(b *testing.B, accounts int) {
	cluster, err := fleettest.Start(b.TempDir(), 3)
	if err != nil {
		b.Fatal(err)
	}
	defer cluster.Stop()
	var sessions []*publication
	var all sync.WaitGroup
	for i := range min(accounts, publishers) {
		s := openPublication(b, cluster, "bench", fmt.Sprint("log", i))
		s.subjects = subjectsOf("bench", fmt.Sprint(i))
		sessions = append(sessions, s)
		all.Go(func() { // the accounts that are quiet now
			for n := i; n < accounts; n += publishers {
				quiet := *s
				quiet.subjects, quiet.at.LogID, quiet.last = subjectsOf("bench", fmt.Sprint(n)), fmt.Sprint("log", n), 0
				publishSome(b, &quiet, 6)
				if n == i {
					s.last, s.at = quiet.last, quiet.at
				}
			}
		})
	}
	all.Wait()
	b.ResetTimer()
	began := time.Now()
	for i, s := range sessions {
		all.Go(func() {
			publishSome(b, s, b.N/len(sessions)+min(1, max(0, b.N%len(sessions)-i)))
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "events/s")
}

// publishSome publishes new events.
func publishSome(b *testing.B, s *publication, events int) {
	log := newMemoryLog(ada)
	log.last = s.at.Event
	log.write(events)
	for i := range log.events {
		// A server may acknowledge a message before it takes the next one of the
		// account, and refuses it then.
		var refused *jetstream.APIError
		err := s.publishAll(log.events[i : i+1])
		for ; errors.As(err, &refused); err = s.publishAll(log.events[i : i+1]) {
		}
		if err != nil {
			b.Error(err)
			return
		}
	}
}
