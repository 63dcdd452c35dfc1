// Package webhook posts the log of events to the addresses that want it.
//
// [Dispatcher.Run] serves every enabled webhook from a loop of its own, so that
// a receiver that is slow, broken or gone holds up no other, and never what
// stores events. A loop is a reader of the log with a cursor in the store: it
// delivers at least once, and in order within a chat. What fails is tried again
// with growing pauses for days, whatever the receiver answers, while the other
// chats go on; then it is a dead letter, which can be listed and posted again.
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
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/urlguard"
)

// Options is what a dispatcher is made of.
type Options struct {
	Store *store.Store
	// Guard judges the addresses of webhooks that may not be private.
	Guard *urlguard.Guard
	// Public posts to addresses that must be public, Private to any; nil is the
	// guard's transport and a plain one.
	Public, Private http.RoundTripper
	UserAgent       string // of what is posted; Go's own where it is empty
	Log             zerolog.Logger
}

// Dispatcher serves the webhooks and manages them.
type Dispatcher struct {
	store           *store.Store
	guard           *urlguard.Guard
	public, private http.RoundTripper
	userAgent       string
	log             zerolog.Logger

	listChanged chan struct{} // holds a token where webhooks were added, changed or removed

	mu      sync.Mutex
	running map[int64]*endpoint // guarded by mu
}

// New makes a dispatcher; nothing is posted until it runs.
func New(o Options) *Dispatcher {
	d := &Dispatcher{
		store: o.Store, guard: o.Guard, public: o.Public, private: o.Private, userAgent: o.UserAgent, log: o.Log,
		listChanged: make(chan struct{}, 1),
		running:     make(map[int64]*endpoint),
	}
	if d.public == nil {
		d.public = d.guard.Transport()
	}
	if d.private == nil {
		d.private = plainTransport()
	}
	return d
}

// plainTransport reaches private addresses too. Proxies of the environment are
// not for requests inside of one's own network.
func plainTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            (&net.Dialer{Timeout: tryTime}).DialContext,
		TLSHandshakeTimeout:    tryTime,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    concurrency,
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// storeRetry is how long to wait when the store does not answer.
const storeRetry = 5 * time.Second

// Run posts until ctx ends. What is under way then may end within a moment;
// what does not is posted again at the next start.
func (d *Dispatcher) Run(ctx context.Context) error {
	posting, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(graceTime, giveUp) })()
	var loops sync.WaitGroup
	defer d.closeIdle()
	defer d.forget()
	defer loops.Wait()
	for {
		wait := time.Hour
		if err := d.reconcile(ctx, posting, &loops); err != nil && ctx.Err() == nil {
			d.log.Error().Err(err).Msg("webhooks not read")
			wait = storeRetry
		}
		again := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			again.Stop()
			return nil
		case <-d.listChanged:
		case <-again.C:
		}
		again.Stop()
	}
}

// reconcile starts a loop for every enabled webhook, ends the others, and tells
// those that go on to look at their settings.
func (d *Dispatcher) reconcile(ctx, posting context.Context, loops *sync.WaitGroup) error {
	webhooks, err := d.store.Webhooks(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, e := range d.running {
		served := slices.ContainsFunc(webhooks, func(w bridge.Webhook) bool { return w.ID == id && w.Enabled })
		if !served {
			e.end()
			delete(d.running, id)
		}
	}
	for _, w := range webhooks {
		if !w.Enabled || d.running[w.ID] != nil {
			continue
		}
		e := d.newEndpoint(ctx, w.ID)
		d.running[w.ID] = e
		loops.Go(func() { e.run(posting) })
	}
	return nil
}

// changed makes the dispatcher look at the list again, and the loop of one
// webhook at its settings and at what is pending.
func (d *Dispatcher) changed(id int64) {
	select {
	case d.listChanged <- struct{}{}:
	default:
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.running[id]; e != nil {
		e.poke()
	}
}

// forget makes room for another Run.
func (d *Dispatcher) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.running)
}

func (d *Dispatcher) closeIdle() {
	for _, transport := range []http.RoundTripper{d.public, d.private} {
		if t, ok := transport.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}
