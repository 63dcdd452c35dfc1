// Package webhook posts the log of events to the addresses that want it.
//
// Each webhook has one worker, from the moment it is made until it is removed, also
// while it is switched off. The worker is one goroutine that owns all the state below;
// beside it run only posts, one try of one delivery each.
//
//   - A queue holds the pending deliveries of one chat, by the chat's row in the store,
//     in the order of the log. At most one delivery of a queue is under way, and one
//     that hangs or fails holds up its own chat alone.
//   - The worker reads the log as it grows and enters numbers into queues, never content.
//     A try reads settings and event in one snapshot just before it posts: it posts what
//     the API shows at that moment, to the address and under the secret of that moment.
//   - A save brings the store up to date: outcomes of tries, pending deliveries, how far
//     the log was read. The worker holds the beginning of each queue, the store all of
//     it. When two chats have become one, or events have left the log, the worker saves
//     everything and reads the queues again; posts under way go on meanwhile.
//   - A change of the settings cancels posts under way to an old address or under an
//     old secret; they are posted again with the new settings.
//   - A stop gives posts under way a moment, then cancels them, and saves. After a kill
//     the store knows of fewer posts than were made: the promise is at least once, with
//     the same webhook-id.
//
// Whether the receiver is down is judged apart from the single event: see outage.
// A delivery that the receiver does not take is tried for three days and then kept
// as a dead letter, which can be listed and posted again.
//
// What is posted, and how it is signed, is the format's: see package format. An event that
// it posts in several parts is tried from the first that the receiver has not taken.
package webhook

import (
	"context"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
	"bridged/internal/webhook/format"
)

// Options are the parts of a dispatcher.
type Options struct {
	Store *store.Store
	// Guard judges the addresses of webhooks that may not be private.
	Guard *urlguard.Guard
	// AllowPrivate are the private addresses that webhooks made over the API may
	// have, if they ask for it.
	AllowPrivate []netip.Prefix
	Resolver     urlguard.Resolver // of private addresses; nil is the system's
	// Transport replaces the three real ones in tests.
	Transport http.RoundTripper
	UserAgent string // of posts; Go's own where it is empty
	// Formats has the formats of posts beside bridged's own.
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
	private    *urlguard.Reach // nil where nothing private is permitted
	transports [toAll + 1]http.RoundTripper
	userAgent  string
	log        zerolog.Logger
	formats    map[bridge.WebhookFormat]format.Format
	own        func() format.Account
	openFile   format.Opener
	wall       func() time.Time // may jump, unlike time.Now; tests change it

	added chan struct{} // holds a token where webhooks were added

	mu      sync.Mutex
	workers map[int64]*worker // guarded by mu
}

// The transports to receivers: to public ones, to those that may be private, and
// to those that the environment names.
const (
	toPublic = iota
	toPrivate
	toAll
)

// New makes a dispatcher; nothing is posted until it runs.
func New(o Options) *Dispatcher {
	d := &Dispatcher{
		store: o.Store, guard: o.Guard, userAgent: o.UserAgent, log: o.Log, wall: time.Now,
		formats: map[bridge.WebhookFormat]format.Format{bridge.FormatBridged: format.Bridged{}}, own: o.Own, openFile: o.OpenFile,
		added:   make(chan struct{}, 1),
		workers: make(map[int64]*worker),
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

// storeRetry follows a failure of the store.
const storeRetry = 5 * time.Second

// Run posts until ctx ends. Posts under way have graceTime then; those that take longer
// are made again at the next start.
func (d *Dispatcher) Run(ctx context.Context) error {
	posting, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(graceTime, giveUp) })()
	var workers sync.WaitGroup
	defer d.closeIdle()
	defer workers.Wait()
	for {
		wait := time.Hour
		if err := d.startWorkers(ctx, posting, &workers); err != nil && ctx.Err() == nil {
			d.log.Error().Err(err).Msg("webhooks not read")
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

// startWorkers starts a worker for every webhook that has none.
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

// notify makes the worker of a webhook look at its settings, and with isRetry try its
// pending deliveries at once. A webhook without a worker gets one.
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
	select {
	case signal <- struct{}{}:
	default:
	}
}

func (d *Dispatcher) closeIdle() {
	for _, transport := range d.transports {
		if t, ok := transport.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}
