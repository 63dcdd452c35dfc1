package webhook

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/settings"
)

const (
	// parallel limits the posts of a webhook that are under way. A post that takes longer than
	// slowAfter makes room for another one, up to maxUnderWay. parallelFailed of the posts may be
	// for deliveries that have failed before.
	parallel       = 32
	slowAfter      = 2 * time.Second
	maxUnderWay    = 128
	parallelFailed = 8

	// pageSize limits the events that are read from the log at once.
	pageSize = 256
	// saveCursorAfter is how long the cursor may stay unsaved if nothing else is to be saved.
	saveCursorAfter = time.Second
	// idleTime is how long a worker waits if nothing is due.
	idleTime = time.Hour
)

// worker serves one webhook. The goroutine of run owns all fields except notified, asked and
// results.
type worker struct {
	d        *Dispatcher
	id       int64
	log      zerolog.Logger
	notified chan struct{} // holds a token if the settings may have changed
	asked    atomic.Bool   // a caller wants pending deliveries tried at once
	results  chan result   // of posts

	posting  context.Context // of posts: it ends shortly after the context of run
	settings bridge.Webhook
	gone     bool // the webhook was removed

	read     int64                     // the last event that was read from the log
	saved    int64                     // read, as it is stored
	savedAt  time.Time                 // when it was stored
	progress settings.DeliveryProgress // not stored yet

	underWay map[int64]*attempt // by delivery
	tries    map[int64]tries    // by delivery
	outage   outage
	pause    time.Time // when posts begin again: the receiver asked for a pause, or the store cannot be read
	refused  int       // how often the receiver has refused the current reset
}

// tries describes the earlier tries of a pending delivery in this process.
type tries struct {
	last     time.Time
	accepted int // posts of the event that the receiver has accepted
}

func newWorker(d *Dispatcher, id int64) *worker {
	return &worker{
		d: d, id: id, log: d.log.With().Int64("webhook", id).Logger(),
		notified: make(chan struct{}, 1),
		results:  make(chan result, maxUnderWay),
		underWay: make(map[int64]*attempt),
		tries:    make(map[int64]tries),
	}
}

// run serves the webhook until ctx ends or the webhook is removed.
func (w *worker) run(ctx, posting context.Context) {
	posting, giveUp := context.WithCancel(posting)
	defer giveUp()
	w.posting = posting
	for ctx.Err() == nil && !w.gone {
		changed := w.d.store.Changed()
		wait, err := w.step(ctx)
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			w.gone = true
			break
		}
		if err != nil {
			changed, wait = nil, storeRetry
			if ctx.Err() == nil {
				w.log.Error().Err(err).Msg("cannot process the queue of a webhook; trying again")
			}
		}
		w.sleep(ctx, changed, wait)
	}
	if w.gone {
		giveUp()
	}
	w.finish()
}

// step saves the progress, reads new events from the log and begins the posts that are due. It returns
// how long to wait before the next step.
func (w *worker) step(ctx context.Context) (time.Duration, error) {
	if w.isUnsaved() || w.read != w.saved && time.Since(w.savedAt) >= saveCursorAfter {
		if err := w.save(); err != nil {
			return 0, err
		}
	}
	posts, wait := w.allowed(time.Now())
	q := settings.DueQuery{Webhook: w.id, New: posts, Latest: bridge.At(w.d.wall().Add(longestWait))}
	if posts > 0 {
		q.Failed = parallelFailed
	}
	for id := range w.underWay {
		q.UnderWay = append(q.UnderWay, id)
	}
	work, err := w.d.store.WebhookWork(ctx, q, w.read, pageSize)
	if err != nil {
		return 0, err
	}
	w.adopt(work.Webhook)
	switch {
	case !w.settings.Enabled:
		return idleTime, nil
	case work.Lost:
		w.refused = 0
		clear(w.tries)
		w.log.Warn().Msg("events were removed from the log before they were delivered to the webhook; it gets a reset")
		return 0, w.d.store.LoseDeliveries(ctx, w.id)
	}
	w.enter(work)
	if posts > 0 {
		wait = w.start(work, posts)
	}
	switch {
	case work.More || w.isUnsaved():
		return 0, nil
	case w.read != w.saved:
		return min(wait, saveCursorAfter), nil
	}
	return wait, nil
}

// enter adds the deliveries of new events to the progress.
func (w *worker) enter(work store.WebhookWork) {
	now := bridge.At(w.d.wall())
	for _, d := range work.New {
		d.NextAttemptAt = &now
		w.progress.Deliveries = append(w.progress.Deliveries, d)
	}
	w.read = work.Next
}

// sleep waits until there may be something to do, at most for wait.
func (w *worker) sleep(ctx context.Context, changed <-chan struct{}, wait time.Duration) {
	if !w.settings.Enabled {
		changed = nil
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-time.After(wait):
	case <-w.notified:
	case r := <-w.results:
		w.settle(r)
		for len(w.results) > 0 { // saves the outcomes of many posts at once
			w.settle(<-w.results)
		}
	}
}

// isUnsaved reports whether deliveries have changed since the last save.
func (w *worker) isUnsaved() bool {
	return len(w.progress.Deliveries) > 0 || len(w.progress.Dropped) > 0 || w.progress.DueAt != nil
}

// save stores the progress.
func (w *worker) save() error {
	w.progress.Cursor = w.read
	err := w.d.store.SaveDeliveries(context.WithoutCancel(w.posting), w.id, w.progress)
	if err == nil {
		w.progress, w.saved, w.savedAt = settings.DeliveryProgress{}, w.read, time.Now()
	}
	return err
}

// adopt takes over the settings, and cancels the posts that use other ones. Everything is tried at once
// after a start, if posts that failed may succeed now, or if a caller wants it.
func (w *worker) adopt(settings bridge.Webhook) {
	isAsked := w.asked.Swap(false)
	if isElsewhere(w.settings, settings) {
		for id, t := range w.tries {
			w.tries[id] = tries{last: t.last}
		}
	}
	if isAsked || reachesAnew(w.settings, settings) {
		w.outage.end()
		w.pause, w.refused = time.Time{}, 0
		w.tryAllNow()
	}
	w.settings = settings
	for _, a := range w.underWay {
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

// tryAllNow makes all pending deliveries due with the next save.
func (w *worker) tryAllNow() {
	now := bridge.At(w.d.wall())
	w.progress.DueAt = &now
}

// finish waits for the posts under way, which the end of posting cancels, and saves their outcomes
// if the webhook was not removed.
func (w *worker) finish() {
	for len(w.underWay) > 0 {
		w.settle(<-w.results)
	}
	if w.gone || !w.isUnsaved() && w.read == w.saved {
		return
	}
	if err := w.save(); err != nil {
		w.log.Error().Err(err).Msg("cannot store the outcomes of posts; they are posted again at the next start")
	}
}
