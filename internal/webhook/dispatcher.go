// Package webhook posts the log of events to the addresses that want it.
//
// Each webhook has one worker until it is removed, also while it is disabled. The worker is one
// goroutine. Each try of a delivery runs in a goroutine of its own.
//
//   - The store's table of deliveries is the queue. The pending deliveries of one chat are posted in
//     the order of the log, one at a time. A delivery that hangs or fails delays only its own chat.
//   - The worker adds new events of the log to the table, and asks the table which deliveries are
//     due. It remembers the posts under way, whether the receiver is down, and how long a delivery
//     has been tried. After a post it stores the outcome before it asks again.
//   - A try reads the settings and the event in one snapshot just before it posts. It does not post if
//     two chats were merged, or events have left the log, since the table was asked.
//   - A change of the settings cancels posts to an old address or with an old secret. They are posted
//     again with the new settings.
//   - When the program stops, posts under way get a short time, then they are cancelled and the
//     outcomes are stored. After a kill some posts are repeated with the same webhook-id.
//
// An outage of the receiver is distinguished from one event that it does not accept: see outage.
// A delivery that the receiver does not accept is tried for three days. Then it is a dead letter,
// which can be listed and posted again.
//
// The formats of the posts and their signatures are in package format. If an event has several
// posts, a try starts with the first one that the receiver has not accepted.
package webhook

import (
	"context"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

// Options configures a [Dispatcher].
type Options struct {
	Store *store.Store
	// Guard checks the addresses of webhooks that must be public.
	Guard *urlguard.Guard
	// AllowPrivate lists the private addresses that webhooks created over the API may have if their
	// allowPrivate is set.
	AllowPrivate []netip.Prefix
	Resolver     urlguard.Resolver // of private addresses; nil for the system's
	// Transport replaces the three real transports in tests.
	Transport http.RoundTripper
	UserAgent string // of posts; empty for Go's own
	// Formats has the formats of posts other than bridged's own.
	Formats map[bridge.WebhookFormat]format.Format
	// Own describes the account, and OpenFile opens files, for formats that need them.
	Own      func() format.Account
	OpenFile format.Opener
	Log      zerolog.Logger
}

// Dispatcher serves the webhooks and manages them.
type Dispatcher struct {
	store      *store.Store
	guard      *urlguard.Guard
	private    *urlguard.Reach // nil if no private address is permitted
	transports [toAll + 1]http.RoundTripper
	userAgent  string
	log        zerolog.Logger
	formats    map[bridge.WebhookFormat]format.Format
	own        func() format.Account
	openFile   format.Opener
	wall       func() time.Time // the wall clock, which may jump; tests replace it

	attempts *prometheus.CounterVec // by outcome

	added chan struct{} // holds a token if webhooks were added

	mu      sync.Mutex
	workers map[int64]*worker // guarded by mu
}

// Transports to receivers.
const (
	toPublic  = iota
	toPrivate // receivers of webhooks with allowPrivate
	toAll     // receivers from the environment
)

// New returns a dispatcher. It posts nothing until [Dispatcher.Run] is called.
func New(o Options) *Dispatcher {
	d := &Dispatcher{
		store: o.Store, guard: o.Guard, userAgent: o.UserAgent, log: o.Log, wall: time.Now,
		formats: map[bridge.WebhookFormat]format.Format{bridge.FormatBridged: format.Bridged{}}, own: o.Own, openFile: o.OpenFile,
		attempts: newAttempts(),
		added:    make(chan struct{}, 1),
		workers:  make(map[int64]*worker),
	}
	maps.Copy(d.formats, o.Formats)
	if d.own == nil {
		d.own = func() format.Account { return format.Account{} }
	}
	if len(o.AllowPrivate) > 0 {
		d.private = urlguard.NewReach(o.AllowPrivate, o.Resolver)
	}
	for i, transport := range [...]*http.Transport{
		toPublic:  o.Guard.Transport(),
		toPrivate: urlguard.NewReach(o.AllowPrivate, o.Resolver).Transport(),
		toAll:     urlguard.NewReach(urlguard.Everywhere(), o.Resolver).Transport(),
	} {
		transport.MaxIdleConnsPerHost = parallel
		d.transports[i] = transport
		if o.Transport != nil {
			d.transports[i] = o.Transport
		}
	}
	return d
}

// storeRetry is the pause after a failure of the store.
const storeRetry = 5 * time.Second

// Run posts until ctx ends. Posts under way then have stopTimeout to end. Slower ones are repeated at the
// next start.
func (d *Dispatcher) Run(ctx context.Context) error {
	posting, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopTimeout, giveUp) })()
	var workers sync.WaitGroup
	defer d.closeIdle()
	defer workers.Wait()
	for {
		wait := time.Hour
		if err := d.startWorkers(ctx, posting, &workers); err != nil && ctx.Err() == nil {
			d.log.Error().Err(err).Msg("cannot read the webhooks; trying again")
			wait = storeRetry
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.added:
		case <-time.After(wait):
		}
	}
}

// startWorkers starts a worker for each webhook without one.
func (d *Dispatcher) startWorkers(ctx, posting context.Context, workers *sync.WaitGroup) error {
	webhooks, err := d.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range webhooks {
		if d.workers[one.ID] != nil {
			continue
		}
		w := newWorker(d, one.ID)
		d.workers[one.ID] = w
		workers.Go(func() {
			w.run(ctx, posting)
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.workers, w.id)
		})
	}
	return nil
}

// notify makes the worker of a webhook read its settings, and if isRetry is set, try its pending
// deliveries at once. A webhook without a worker gets one.
func (d *Dispatcher) notify(id int64, isRetry bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	signal := d.added
	if w := d.workers[id]; w != nil {
		signal = w.notified
		if isRetry {
			w.asked.Store(true)
		}
	}
	bridge.Wake(signal)
}

func (d *Dispatcher) closeIdle() {
	for _, transport := range d.transports {
		if t, ok := transport.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}
