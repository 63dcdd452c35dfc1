package webhook

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

const (
	// parallel limits the posts of a webhook that are under way. One that
	// takes longer than slowAfter makes room for another, up to maxUnderWay;
	// parallelFailed of them may be for chats of which something has failed.
	parallel       = 32
	slowAfter      = 2 * time.Second
	maxUnderWay    = 128
	parallelFailed = 8

	// The log is read until maxQueues chats have pending deliveries. maxHeld limits the
	// deliveries in memory, maxOfQueue those of one chat.
	maxQueues  = 4096
	maxHeld    = 4096
	maxOfQueue = 256

	// pageSize limits the events that are taken in at once, maxDirty the deliveries that
	// the store may be behind.
	pageSize = 256
	maxDirty = 1024

	// lazySave limits how long the store may stay behind when nothing was tried.
	lazySave = time.Second
)

// worker serves one webhook. All its fields but notified, asked and results
// belong to run.
type worker struct {
	d        *Dispatcher
	id       int64
	log      zerolog.Logger
	notified chan struct{} // holds a token where the settings may have changed
	asked    atomic.Bool   // pending deliveries are to be tried at once
	results  chan result   // of posts

	posting  context.Context // of posts: it outlives run's own a little
	settings bridge.Webhook
	state    settings.LogState // in which the queues were read
	isStale  bool              // they must be read again
	isFull   bool              // there are more of them in the store

	read   int64           // the event up to which the log was taken in
	seen   <-chan struct{} // closed when the log has grown since
	behind bool            // there is more to take in

	queues   map[int64]*queue
	underWay map[*attempt]bool
	held     int // items in queues

	outage  outage
	pause   time.Time // until which nothing is posted: the receiver asked for it, or the store cannot be read
	refused int       // how often it has refused the present reset

	dirty     []*item   // the store is behind on them
	urgent    bool      // some of them were tried
	saved     int64     // read, as the store knows it
	behindAt  time.Time // when the store fell behind; zero where it is not
	saveAgain time.Time // after a save has failed; nothing is posted before, or it would be posted again and again
	gone      bool      // the webhook was removed
}

func newWorker(d *Dispatcher, id int64) *worker {
	return &worker{
		d: d, id: id, log: d.log.With().Int64("webhook", id).Logger(),
		notified: make(chan struct{}, 1),
		results:  make(chan result, maxUnderWay),
		isStale:  true,
		queues:   make(map[int64]*queue),
		underWay: make(map[*attempt]bool),
	}
}

// run serves the webhook until ctx ends or it is removed.
func (w *worker) run(ctx, posting context.Context) {
	posting, giveUp := context.WithCancel(posting)
	defer giveUp()
	w.posting = posting
	for ctx.Err() == nil && !w.gone {
		changed := w.d.store.Changed()
		err := w.step(ctx, changed)
		if at := w.saveAt(); !at.IsZero() && !at.After(time.Now()) { // also after an error, or posts would be repeated
			err = errors.Join(err, w.save())
		}
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			w.gone = true
			break
		}
		wait := w.idle()
		if err != nil && ctx.Err() == nil {
			w.log.Error().Err(err).Msg("webhook not served; trying again")
			wait = storeRetry
		}
		w.sleep(ctx, changed, wait)
	}
	if w.gone {
		giveUp()
	}
	w.finish()
}

// step takes in what is new and begins the posts that are due.
func (w *worker) step(ctx context.Context, changed <-chan struct{}) error {
	if w.isStale && w.saveAt().IsZero() {
		if err := w.reload(ctx); err != nil {
			return err
		}
	}
	if err := w.takeIn(ctx, changed); err != nil {
		return err
	}
	return w.start(ctx)
}

// sleep waits until there may be something to do.
func (w *worker) sleep(ctx context.Context, changed <-chan struct{}, wait time.Duration) {
	if !w.mayTakeIn() {
		changed = nil
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-time.After(wait):
	case <-w.notified:
		if err := w.configure(ctx); err != nil && ctx.Err() == nil {
			w.log.Error().Err(err).Msg("webhook's settings not read")
			w.isStale = true // which reads them again
		}
	case r := <-w.results:
		w.settle(r)
		for len(w.results) > 0 { // many tries are one save
			w.settle(<-w.results)
		}
	}
}

// idle returns how long until something is due by itself.
func (w *worker) idle() time.Duration {
	now := time.Now()
	if w.behind && w.mayTakeIn() || w.isStale && w.saveAt().IsZero() {
		return 0
	}
	wait := time.Hour
	if w.mayStart() {
		if q, at := w.next(); q != nil {
			wait = min(wait, max(at.Sub(now), w.roomAt(now).Sub(now)))
		}
	}
	if at := w.saveAt(); !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	return max(wait, 0)
}

// configure takes over the settings as they are now.
func (w *worker) configure(ctx context.Context) error {
	p, err := w.d.store.Post(ctx, w.id, 0)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		w.gone = true
		return nil
	}
	if err != nil {
		return err
	}
	w.adopt(p.Webhook)
	return nil
}

// adopt takes settings over, and ends the posts that use others. Everything is tried at
// once if posts that failed may succeed now, or a caller has asked.
func (w *worker) adopt(settings bridge.Webhook) {
	isAsked := w.asked.Swap(false)
	if isElsewhere(w.settings, settings) {
		w.startOver()
	}
	if isAsked || reachesAnew(w.settings, settings) {
		w.outage.end()
		w.pause, w.refused = time.Time{}, 0
		w.dueNow()
	}
	w.settings = settings
	for a := range w.underWay {
		if a.isOutdated(settings) {
			a.cancel()
		}
	}
}

// reachesAnew reports whether posts that failed may succeed after a change of settings.
func reachesAnew(old, now bridge.Webhook) bool {
	return isElsewhere(old, now) || now.Enabled && !old.Enabled
}

// isElsewhere reports whether two settings differ in where and how they post.
func isElsewhere(a, b bridge.Webhook) bool {
	return a.URL != b.URL || a.Secret != b.Secret || a.AllowPrivate != b.AllowPrivate || a.Format != b.Format || !reflect.DeepEqual(a.Options, b.Options)
}

// dueNow makes every queue due: the reason for its pause has gone.
func (w *worker) dueNow() {
	now := time.Now()
	for _, q := range w.queues {
		if q.due.After(now) {
			q.due = now
		}
	}
}

// startOver forgets which parts of events the old receiver has taken.
func (w *worker) startOver() {
	for _, q := range w.queues {
		for _, it := range q.items {
			it.taken = 0
		}
	}
}

// finish lets posts end that are under way, for as long as posting lasts, and
// saves how they went, if the webhook is still there.
func (w *worker) finish() {
	for len(w.underWay) > 0 {
		w.settle(<-w.results)
	}
	if w.gone || w.saveAt().IsZero() {
		return
	}
	if err := w.save(); err != nil {
		w.log.Error().Err(err).Msg("deliveries not saved; what is not noted is posted again at the next start")
	}
}
