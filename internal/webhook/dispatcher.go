// Package webhook posts the log of events to the addresses that want it.
//
// A webhook has one worker, from the moment it is made until it is removed, also
// while it is switched off: [Dispatcher.Run] starts it, and nothing else ever
// serves the same webhook. The worker is one goroutine that owns all that is
// said below; beside it run only posts (one try of one delivery each) and at
// most one save.
//
//   - A queue is what is pending of one chat, by the chat's row in the store, in
//     the order of the log. At most one delivery of a queue is under way. Two
//     queues have nothing to do with each other: what hangs or fails holds up its
//     own chat alone.
//   - The worker reads the log as it grows, together with the settings of that
//     moment, and enters numbers into queues, never content. A try reads the settings of the webhook and the event in one
//     snapshot just before it posts, so that what is posted is what the read
//     routes show at that moment, to the address and under the secret of that
//     moment. What they do not show any more is not posted.
//   - A save brings the store up to what the worker knows: how tries went, what
//     is pending, how far the log was read. Of a queue the worker holds a part,
//     the store all. When two chats have become one, or events have left the log,
//     it saves everything, forgets the queues and reads them again; what is under
//     way goes on beside that, and counts in the queue that it is in now.
//   - A change of the settings ends the posts that are under way to an old
//     address or under an old secret; they are posted again as the settings are
//     now. Switched off, a worker starts no posts and lets those end that are
//     under way.
//   - A stop lets posts under way end for a moment, then breaks them off, and
//     saves. After a kill the store knows less than was posted: at least once is
//     the promise, and the webhook-id is the same.
//
// Whether anything gets through at all is judged apart from the single event: see
// outage. What a receiver does not take is tried for three days and then kept as
// a dead letter, which can be listed and posted again.
//
// What is posted is signed as Standard Webhooks has it
// (https://www.standardwebhooks.com): the header webhook-id names the event and is the
// same at every try, so that a receiver can tell what it has seen.
//
// The package reads and writes the store as it is. It does not know how events
// come to be.
package webhook

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/store"
	"bridged/internal/urlguard"
)

// Options is what a dispatcher is made of.
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
	UserAgent string // of what is posted; Go's own where it is empty
	Log       zerolog.Logger
}

// Dispatcher serves the webhooks and manages them.
type Dispatcher struct {
	store     *store.Store
	guard     *urlguard.Guard
	private   *urlguard.Reach // nil where nothing private is permitted
	ways      ways
	userAgent string
	log       zerolog.Logger
	wall      func() time.Time // what clocks on walls show; tests change it

	added chan struct{} // holds a token where webhooks were added

	mu      sync.Mutex
	workers map[int64]*worker // guarded by mu
}

// ways are the transports to receivers: of webhooks that are public, that may
// be private, and of the environment.
type ways struct{ public, private, environment http.RoundTripper }

// New makes a dispatcher; nothing is posted until it runs.
func New(o Options) *Dispatcher {
	d := &Dispatcher{
		store: o.Store, guard: o.Guard, userAgent: o.UserAgent, log: o.Log, wall: time.Now,
		added:   make(chan struct{}, 1),
		workers: make(map[int64]*worker),
	}
	if len(o.AllowPrivate) > 0 {
		d.private = urlguard.NewReach(o.AllowPrivate, o.Resolver)
	}
	if o.Transport != nil {
		d.ways = ways{o.Transport, o.Transport, o.Transport}
		return d
	}
	d.ways = ways{
		public:      pooled(o.Guard.Transport()),
		private:     pooled(urlguard.NewReach(o.AllowPrivate, o.Resolver).Transport()),
		environment: pooled(urlguard.NewReach(urlguard.Everywhere(), o.Resolver).Transport()),
	}
	return d
}

// pooled makes a transport keep a connection for each post that may be under
// way.
func pooled(t *http.Transport) http.RoundTripper {
	t.MaxIdleConnsPerHost = parallel
	return t
}

// storeRetry is how long to wait when the store does not answer.
const storeRetry = 5 * time.Second

// Run posts until ctx ends. What is under way then may end within a moment;
// what does not is posted again at the next start.
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
		again := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			again.Stop()
			return nil
		case <-d.added:
		case <-again.C:
		}
		again.Stop()
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
	for _, hook := range webhooks {
		if d.workers[hook.ID] != nil {
			continue
		}
		w := newWorker(d, hook.ID)
		d.workers[hook.ID] = w
		workers.Go(func() {
			defer d.ended(w)
			w.run(ctx, posting)
		})
	}
	return nil
}

func (d *Dispatcher) ended(w *worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.workers, w.id)
}

// notify makes the worker of a webhook look at its settings. A webhook without
// a worker gets one.
func (d *Dispatcher) notify(id int64) { d.signal(d.workerOf(id)) }

// retry makes the worker of a webhook try at once what is pending.
func (d *Dispatcher) retry(id int64) {
	w := d.workerOf(id)
	if w != nil {
		w.asked.Store(true)
	}
	d.signal(w)
}

// workerOf returns the worker of a webhook, nil where it has none.
func (d *Dispatcher) workerOf(id int64) *worker {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.workers[id]
}

func (d *Dispatcher) signal(w *worker) {
	signal := d.added
	if w != nil {
		signal = w.notified
	}
	select {
	case signal <- struct{}{}:
	default:
	}
}

func (d *Dispatcher) closeIdle() {
	for _, transport := range []http.RoundTripper{d.ways.public, d.ways.private, d.ways.environment} {
		if t, ok := transport.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}
