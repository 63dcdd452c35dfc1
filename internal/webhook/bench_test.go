package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
)

// measured is a store, a dispatcher and a receiver over real connections.
type measured struct {
	b       *testing.B
	store   *store.Store
	d       *Dispatcher
	delay   time.Duration // of the receiver's answers
	arrived chan arrival
	hook    bridge.Webhook
}

type arrival struct {
	id string
	at time.Time
}

func newMeasured(b *testing.B, delay time.Duration) *measured {
	b.Helper()
	st, err := store.Open(b.Context(), store.Options{Path: filepath.Join(b.TempDir(), "bridged.db"), Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	m := &measured{b: b, store: st, delay: delay, arrived: make(chan arrival, 1<<16)}
	receiver := httptest.NewServer(http.HandlerFunc(m.receive))
	m.d = New(Options{Store: st, Guard: urlguard.New(urlguard.Options{}), AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Log: zerolog.Nop()})
	m.hook, err = m.d.Create(b.Context(), bridge.Webhook{
		URL: receiver.URL, AllowPrivate: true, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}}, Cursor: -1,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.d.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		receiver.Close()
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	})
	return m
}

func (m *measured) receive(_ http.ResponseWriter, req *http.Request) {
	at := time.Now()
	var p struct {
		Data struct{ Message struct{ MsgID string } }
	}
	body, err := io.ReadAll(req.Body)
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	if err != nil {
		m.b.Error(err)
	}
	time.Sleep(m.delay)
	m.arrived <- arrival{p.Data.Message.MsgID, at}
}

// on switches the webhook on.
func (m *measured) on() {
	m.b.Helper()
	if _, err := m.d.Update(m.b.Context(), m.hook.ID, false, enabled(true)); err != nil {
		m.b.Fatal(err)
	}
}

// BenchmarkThroughput measures how many events a second are delivered, and how many the limit
// of parallel posts permits.
func BenchmarkThroughput(b *testing.B) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond, 500 * time.Millisecond} {
		for _, chats := range []int{1, 5, 500} {
			b.Run(fmt.Sprintf("%v/%dchats", delay, chats), func(b *testing.B) {
				limit, n := 0.0, 3000
				if delay > 0 {
					limit = float64(min(chats, parallel)) / delay.Seconds()
					n = int(4 * limit)
				}
				for b.Loop() {
					m := newMeasured(b, delay)
					facts := make([]bridge.Fact, n)
					for i := range facts {
						facts[i] = message(chatOf(i%chats), fmt.Sprint("M", i))
					}
					if err := m.store.Save(b.Context(), facts...); err != nil {
						b.Fatal(err)
					}
					began := time.Now()
					m.on()
					for range n {
						<-m.arrived
					}
					b.ReportMetric(float64(n)/time.Since(began).Seconds(), "events/s")
					b.ReportMetric(limit, "limit/s")
				}
			})
		}
	}
}

// BenchmarkLatency measures the time from storing an event to posting it, in five
// chats.
func BenchmarkLatency(b *testing.B) {
	for _, load := range []struct {
		rate int
		long time.Duration
	}{{1, 30 * time.Second}, {50, 6 * time.Second}, {500, 6 * time.Second}} {
		b.Run(fmt.Sprintf("%d a second", load.rate), func(b *testing.B) {
			for b.Loop() {
				m := newMeasured(b, 0)
				m.on()
				began := time.Now()
				late := m.waits(load.rate, load.long)
				b.ReportMetric(float64(len(late))/time.Since(began).Seconds(), "events/s")
				slices.Sort(late)
				for name, share := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99, "max-ms": 1} {
					at := late[min(int(share*float64(len(late))), len(late)-1)]
					b.ReportMetric(float64(at.Microseconds())/1000, name)
				}
			}
		})
	}
}

// waits stores messages at a rate, several at once if the disk is too slow for one at a time. It returns
// how long each took from the store to the receiver.
func (m *measured) waits(rate int, long time.Duration) []time.Duration {
	m.b.Helper()
	atOnce := max(rate/100, 1)
	rounds := int(long.Seconds() * float64(rate/atOnce))
	stored := make(map[string]time.Time)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second * time.Duration(atOnce) / time.Duration(rate))
		defer tick.Stop()
		for round := range rounds {
			<-tick.C
			var facts []bridge.Fact
			for i := range atOnce {
				facts = append(facts, message(chatOf(i%5), fmt.Sprint("M", round*atOnce+i)))
			}
			if err := m.store.Save(context.Background(), facts...); err != nil {
				m.b.Error(err)
			}
			now := time.Now()
			for i := range atOnce {
				stored[fmt.Sprint("M", round*atOnce+i)] = now
			}
		}
	}()
	arrivals := make([]arrival, rounds*atOnce)
	for i := range arrivals {
		arrivals[i] = <-m.arrived
	}
	<-done
	late := make([]time.Duration, len(arrivals))
	for i, a := range arrivals {
		late[i] = max(a.at.Sub(stored[a.id]), 0)
	}
	return late
}
