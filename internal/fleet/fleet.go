// Package fleet connects a bridge to NATS, which hundreds of bridges can share, each with its own
// account.
//
// NATS is the operator's server or cluster, with JetStream. Without NATS_URL this package does
// nothing.
//
//   - A [Fleet] owns one connection. It is made in the background and retried forever, so the
//     bridge works with or without NATS.
//   - The account's name is its phone number in digits. The fleet waits for the first pairing.
//   - Events out: the publisher reads the event log. Each event becomes one message of a stream,
//     exactly once and in order; resume.go has the rules.
//   - Requests in: an envelope of method, path, headers and body is passed to the API's router
//     with its bearer token. See requests.go.
//   - One owner: a key with a time to live is the account's lease. Only the process that holds
//     it runs the account, publishes events and serves requests. See owner.go.
//
// The package knows neither the store nor whatsmeow. The program passes it a [Log].
package fleet

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Options configures a fleet.
type Options struct {
	Server  Server
	Prefix  string // of subjects; in capitals, of streams and buckets
	Stream  Limits
	Owner   OwnerOptions
	Log     Log
	Version string // of the program, shown in NATS service discovery
	Name    string // of the connection, shown to the NATS server's operator
	Logger  zerolog.Logger
}

// Fleet is a bridge's part of a fleet.
type Fleet struct {
	*link
	api    http.Handler // nil if requests are not served
	tree   func(ctx context.Context, secret string) (tree int64, known bool)
	*owner // Acquire and Refusal decide whether a session may run here
}

// New returns a fleet. It connects when it runs.
func New(o Options) *Fleet {
	log := o.Logger.With().Str("part", "fleet").Logger()
	return &Fleet{link: newLink(o, log), owner: newOwner(o, log)}
}

// ServeRequests makes the fleet serve requests with api, the router of the bridge. tree returns
// the id of the token tree of a token's secret; requests count against the quota of that tree.
// Call it before Run.
func (f *Fleet) ServeRequests(api http.Handler, tree func(ctx context.Context, secret string) (tree int64, known bool)) {
	f.api, f.tree = api, tree
}

// Run serves until ctx ends. It fails if the options make a connection impossible.
func (f *Fleet) Run(ctx context.Context) (err error) {
	if f.nc, err = f.dial(); err != nil {
		return fmt.Errorf("set up the connection to NATS: %w", err)
	}
	defer f.nc.Close()
	if f.js, err = jetstream.New(f.nc); err != nil {
		return fmt.Errorf("set up JetStream: %w", err)
	}
	if f.account, err = f.awaitAccount(ctx); err != nil {
		return nil // ctx ended
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { f.owner.whileServed(ctx, f.serve) })
	f.owner.run(ctx, &natsRegistry{link: f.link})
	return nil
}

// accountRetry is the pause after an error of the store.
const accountRetry = 5 * time.Second

// awaitAccount waits for the account's phone number and returns its digits, or ctx's error. A
// store never changes its account.
func (l *link) awaitAccount(ctx context.Context) (string, error) {
	var isLogged bool
	for {
		changed := l.options.Log.Changed() // before asking
		name, err := l.options.Log.Account(ctx)
		if err == nil && name != "" {
			return name, nil
		}
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			l.log.Error().Err(err).Msg("cannot read the account; trying again")
			again = time.After(accountRetry)
		} else if !isLogged {
			isLogged = true
			l.log.Info().Msg("no account is paired yet; the connection to NATS is used once one is")
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		case <-again:
		}
	}
}

// serve publishes events and serves requests until ctx ends.
func (f *Fleet) serve(ctx context.Context) {
	var serving sync.WaitGroup
	serving.Go(func() { f.publishLog(ctx) })
	if f.api != nil {
		serving.Go(func() {
			if err := newRequests(f.link, f.api, f.tree).serve(ctx); err != nil {
				f.link.log.Error().Err(err).Msg("cannot serve requests from NATS")
			}
		})
	}
	serving.Wait()
}

// scrapeTimeout limits the query of one scrape.
const scrapeTimeout = 5 * time.Second

// Metrics returns the collectors of /metrics.
func (f *Fleet) Metrics() []prometheus.Collector {
	connected := func() float64 {
		if f.connected.Load() {
			return 1
		}
		return 0
	}
	lag := func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		newest, err := f.link.options.Log.LastEvent(ctx)
		if err != nil {
			return math.NaN()
		}
		return float64(max(newest-f.event.Load(), 0))
	}
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bridged_nats_connected", Help: "1 while NATS is connected, else 0."}, connected),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "bridged_nats_events_published_total", Help: "Events that the stream has acknowledged."},
			func() float64 { return float64(f.published.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bridged_nats_events_lag", Help: "Events of the log that are not in the stream yet."}, lag),
	}
}

// streamName returns the name of a stream or bucket of the fleet.
func streamName(prefix, name string) string { return strings.ToUpper(prefix) + "_" + name }
