package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

// BenchmarkStreamLatency measures the time from stored to seen by the reader of
// a stream, over a real connection, in five chats.
func BenchmarkStreamLatency(b *testing.B) {
	for _, load := range []struct {
		rate int
		long time.Duration
	}{{1, 30 * time.Second}, {50, 6 * time.Second}, {500, 6 * time.Second}} {
		b.Run(fmt.Sprintf("%d a second", load.rate), func(b *testing.B) {
			for b.Loop() {
				began := time.Now()
				late := streamDelays(b, load.rate, load.long)
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

// streamDelays stores messages at a rate, several at once where one at a time
// would wait for the disk, and returns how long each took to be read.
func streamDelays(b *testing.B, rate int, long time.Duration) []time.Duration {
	b.Helper()
	st, lines := streamToMeasure(b)
	atOnce := max(rate/100, 1)
	n := int(long.Seconds()) * rate / atOnce * atOnce
	seen := make(chan time.Time, n)
	go readEvents(lines, seen)
	stored := make([]time.Time, 0, n)
	tick := time.NewTicker(time.Second * time.Duration(atOnce) / time.Duration(rate))
	defer tick.Stop()
	for len(stored) < n {
		<-tick.C
		facts := make([]bridge.Fact, atOnce)
		for i := range facts {
			chat := bridge.JID(fmt.Sprintf("1555000000%d@s.whatsapp.net", i%5))
			facts[i] = say(chat, chat, fmt.Sprint("M", len(stored)+i), "text", len(stored)+i)
		}
		if err := st.Save(b.Context(), facts...); err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		for range facts {
			stored = append(stored, now)
		}
	}
	late := make([]time.Duration, n)
	for i := range late { // events come in the order of the log
		late[i] = max((<-seen).Sub(stored[i]), 0)
	}
	return late
}

// readEvents tells when each event came.
func readEvents(lines *bufio.Reader, seen chan<- time.Time) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return // the benchmark is over
		}
		if strings.HasPrefix(line, "data: ") {
			seen <- time.Now()
		}
	}
}

// streamToMeasure serves a store and opens a stream of its new messages.
func streamToMeasure(b *testing.B) (*store.Store, *bufio.Reader) {
	b.Helper()
	st, err := store.Open(b.Context(), store.Options{Path: filepath.Join(b.TempDir(), "bridged.db"), Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	streams, stop := context.WithCancel(context.Background())
	served := httptest.NewServer(api.New(api.Options{Store: st, Account: newAccount(st), Token: token, Streams: streams, Log: zerolog.Nop()}))
	b.Cleanup(func() {
		stop()
		served.Close()
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	})
	req, err := http.NewRequest(http.MethodGet, served.URL+"/api/events?types=message.created", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := served.Client().Do(req)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil { // it has begun
		b.Fatal(err)
	}
	return st, lines
}
