// Package fleet connects a bridge to NATS, where hundreds of bridges meet, each
// with its own account.
//
// It runs on the operator's NATS server or cluster, with JetStream. Without NATS_URL
// nothing of this package runs.
//
//   - A [Fleet] owns one connection, which is made in the background and without
//     end: the bridge works whether NATS is there or not.
//   - The account is named by its phone's digits. The fleet waits for the first pairing.
//   - Events out: the publisher reads the log of events. Each event becomes one message
//     of a stream, exactly once and in order; resume.go has the rules.
//   - Requests in: an envelope of method, path, headers and body goes through the API's
//     router with its bearer. See requests.go.
//   - One owner: a key with a time to live says which process runs the account, and
//     only that one publishes and takes requests. See owner.go.
//
// The package sees neither the store nor whatsmeow. The program gives it a [Log].
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

// Options lists the parts of a fleet.
type Options struct {
	Server  Server
	Prefix  string // of subjects, and in capitals of streams and buckets
	Stream  Limits
	Owner   OwnerOptions
	Log     Log
	Version string // of the program, shown to those who look for services
	Name    string // by which the server's operator knows the connection
	Logger  zerolog.Logger
}

// Fleet is a bridge's place among the others.
type Fleet struct {
	*link
	api    http.Handler // nil takes no requests
	family func(ctx context.Context, secret string) (family int64, known bool)
	*owner // whose Seek and Refusal decide whether a session may run here
}

// New makes a fleet. Nothing is dialled until it runs.
func New(o Options) *Fleet {
	log := o.Logger.With().Str("part", "fleet").Logger()
	return &Fleet{link: newLink(o, log), owner: newOwner(o, log)}
}

// TakeRequests has the fleet take requests for api, the router of the bridge. family returns
// the family of the token with a secret, whose quota a request counts for. Call it before Run.
func (f *Fleet) TakeRequests(api http.Handler, family func(ctx context.Context, secret string) (family int64, known bool)) {
	f.api, f.family = api, family
}

// Run serves until ctx ends. It fails where NATS could never be reached with these
// options.
func (f *Fleet) Run(ctx context.Context) (err error) {
	if f.nc, err = f.dial(); err != nil {
		return fmt.Errorf("set up the connection to NATS: %w", err)
	}
	defer f.nc.Close()
	if f.js, err = jetstream.New(f.nc); err != nil {
		return fmt.Errorf("set up JetStream: %w", err)
	}
	if f.account, err = f.awaitAccount(ctx); err != nil {
		return nil // it was stopped before
	}
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { f.owner.during(ctx, f.serve) })
	f.owner.run(ctx, &natsRegistry{link: f.link})
	return nil
}

// accountRetry follows a failure of the store.
const accountRetry = 5 * time.Second

// awaitAccount returns the phone's digits as soon as they are known, or ctx's error. A store
// belongs to one account for good.
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
			l.log.Error().Err(err).Msg("account not read; trying again")
			again = time.After(accountRetry)
		} else if !isLogged {
			isLogged = true
			l.log.Info().Msg("no account is paired yet: NATS hears of it once one is")
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		case <-again:
		}
	}
}

// serve publishes and takes requests until ctx ends.
func (f *Fleet) serve(ctx context.Context) {
	var serving sync.WaitGroup
	serving.Go(func() { f.publishLog(ctx) })
	if f.api != nil {
		serving.Go(func() {
			if err := newRequests(f.link, f.api, f.family).serve(ctx); err != nil {
				f.link.log.Error().Err(err).Msg("requests are not taken from NATS")
			}
		})
	}
	serving.Wait()
}

// scrapeTime bounds the query of a scrape.
const scrapeTime = 5 * time.Second

// Metrics returns what /metrics shows of the fleet.
func (f *Fleet) Metrics() []prometheus.Collector {
	connected := func() float64 {
		if f.connected.Load() {
			return 1
		}
		return 0
	}
	lag := func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
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
func streamName(prefix, what string) string { return strings.ToUpper(prefix) + "_" + what }
