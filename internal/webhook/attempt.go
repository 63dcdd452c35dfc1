package webhook

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/settings"
)

// attempt is one try under way.
type attempt struct {
	item      *item
	queue     *queue            // nil where its event has left the log meanwhile
	state     settings.LogState // in which the queue was read
	began     time.Time
	cancel    context.CancelFunc
	hasFailed bool                       // the delivery was tried before
	isProbe   bool                       // whether the receiver is back
	taken     int                        // posts of the event that the receiver has taken
	takenAs   bridge.Webhook             // the settings of that receiver
	posts     atomic.Pointer[store.Post] // the event and the settings
}

// isOutdated reports whether it posts with other settings, or an event that is not
// wanted any more.
func (a *attempt) isOutdated(now bridge.Webhook) bool {
	p := a.posts.Load()
	if p == nil {
		return true
	}
	w := p.Webhook
	isWanted := a.item.EventType == bridge.EventReset || w.NamesSameChats(now.EventFilter) && now.Wants(p.Event)
	return isElsewhere(w, now) || !isWanted
}

// result holds how a try ended.
type result struct {
	attempt  *attempt
	state    settings.LogState // as the try has found it
	err      error             // the store could not be read
	isPosted bool
	outcome
}

// mayStart reports whether another post may begin.
func (w *worker) mayStart() bool {
	return w.settings.Enabled && !w.isStale && w.saveAgain.IsZero() && len(w.underWay) < maxUnderWay &&
		!(w.outage.isDown() && w.outage.probing)
}

// next returns the queue that is to be served next and when, nil for none. A
// reset goes before everything else, unless the receiver keeps refusing it.
func (w *worker) next() (*queue, time.Time) {
	q := w.choose()
	if reset := w.queues[bridge.QueueReset]; reset != nil && w.refused < resetTries {
		q = reset
	}
	if q == nil || q.trying > 0 {
		return nil, time.Time{}
	}
	at := q.due
	if w.outage.isDown() {
		at = w.outage.until
	}
	if at.Before(w.pause) {
		at = w.pause
	}
	return q, at
}

// choose returns the queue that is due first of those for which there is room.
// While the receiver is down it is the newest, or in turn the one that failed
// the longest ago.
func (w *worker) choose() *queue {
	var fresh, newest, failed *queue
	for _, q := range w.queues {
		switch {
		case q.trying > 0:
		case q.hasFailed():
			if failed == nil || q.isBefore(failed) {
				failed = q
			}
		default:
			if fresh == nil || q.isBefore(fresh) {
				fresh = q
			}
			if newest == nil || newest.isBefore(q) {
				newest = q
			}
		}
	}
	failedUnderWay := 0
	for a := range w.underWay {
		if a.hasFailed {
			failedUnderWay++
		}
	}
	if failedUnderWay >= parallelFailed {
		failed = nil
	}
	switch {
	case fresh == nil:
		return failed
	case w.outage.isDown() && (failed == nil || w.outage.triesNew()):
		return newest
	case failed != nil && (w.outage.isDown() || failed.due.Before(fresh.due)):
		return failed
	}
	return fresh
}

// start begins the posts that are due.
func (w *worker) start(ctx context.Context) error {
	for w.mayStart() {
		now := time.Now()
		if w.roomAt(now).After(now) {
			return nil
		}
		q, at := w.next()
		if q == nil || at.After(now) {
			return nil
		}
		if len(q.items) > 0 {
			w.begin(q)
			continue
		}
		if err := w.refill(ctx, q); err != nil {
			return err
		}
		w.forgetEmpty(q)
	}
	return nil
}

// roomAt returns when there is room for another post, if none ends before.
func (w *worker) roomAt(now time.Time) time.Time {
	quick, oldest := 0, now
	for a := range w.underWay {
		if now.Sub(a.began) < slowAfter {
			quick++
			if a.began.Before(oldest) {
				oldest = a.began
			}
		}
	}
	if quick < parallel {
		return now
	}
	return oldest.Add(slowAfter)
}

// begin posts the first delivery of a queue.
func (w *worker) begin(q *queue) {
	ctx, cancel := context.WithCancel(w.posting)
	it := q.items[0]
	a := &attempt{item: it, queue: q, state: w.state, began: time.Now(), cancel: cancel, hasFailed: it.Attempts > 0, isProbe: w.outage.isDown(), taken: it.taken, takenAs: w.settings}
	w.outage.probing = w.outage.probing || a.isProbe
	w.underWay[a] = true
	q.trying++
	d := it.WebhookDelivery
	go func() {
		defer cancel()
		w.results <- w.d.try(ctx, a, d)
	}()
}

// try reads the payload of a delivery and posts it.
func (d *Dispatcher) try(ctx context.Context, a *attempt, of bridge.WebhookDelivery) result {
	p, err := d.read(ctx, of)
	r := result{attempt: a, state: p.Log, err: err}
	// In another state of the log another delivery may be next.
	if ctx.Err() == nil && err == nil && p.Log == a.state && p.Shown {
		a.posts.Store(&p)
		taken := a.taken
		if isElsewhere(a.takenAs, p.Webhook) { // the worker does not know yet
			taken = 0
		}
		r.outcome = d.deliver(ctx, p, of, taken)
		r.isPosted = !r.isNothing
	}
	r.isBrokenOff = ctx.Err() != nil && (!r.isPosted || r.failure != "")
	return r
}

// settle applies the result of a try.
func (w *worker) settle(r result) {
	a := r.attempt
	delete(w.underWay, a)
	if a.isProbe {
		w.outage.probing = false
	}
	q, it := a.queue, a.item
	if q == nil {
		return // its event has left the log: the receiver gets a reset instead
	}
	q.trying--
	switch {
	case r.isBrokenOff:
		q.due = time.Now()
	case bridge.CodeOf(r.err) == bridge.CodeNotFound:
		w.gone = true
	case r.err != nil:
		w.log.Error().Err(r.err).Msg("event to post not read; trying again")
		w.hold(time.Now().Add(storeRetry))
	case !r.isPosted && r.state != a.state:
		w.compare(r.state)
	case !r.isPosted:
		it.dropped = true
		w.leave(q, it)
	default:
		w.note(q, it, a, r.outcome)
	}
	w.forgetEmpty(q)
}

// hold starts no post until a moment, also while the receiver is down.
func (w *worker) hold(until time.Time) {
	if until.After(w.pause) {
		w.pause = until
	}
}

// forgetEmpty forgets a queue in which nothing is pending any more.
func (w *worker) forgetEmpty(q *queue) {
	if q.trying > 0 || len(q.items) > 0 || q.more {
		return
	}
	delete(w.queues, q.chat)
	w.isStale = w.isStale || w.isFull && len(w.queues) < maxQueues/2
}

// note records how a post went.
func (w *worker) note(q *queue, it *item, a *attempt, got outcome) {
	now := time.Now()
	if it.taken = got.taken; isElsewhere(a.posts.Load().Webhook, w.settings) {
		it.taken = 0
	}
	w.enterTry(it, got, now)
	if it.Status == bridge.WebhookPending {
		q.due = now.Add(backOff(it.Attempts, longestPause))
		next := bridge.At(w.d.wall().Add(q.due.Sub(now)))
		it.NextAttemptAt = &next
		w.tried(it)
	} else {
		q.due = now
		w.leave(q, it)
	}
	if it.EventType == bridge.EventReset && got.status != 0 {
		w.refused++
	}
	if got.status == http.StatusTooManyRequests || got.retryAfter > 0 {
		// Without a time it may mean this event alone, which waits longer by itself.
		w.hold(now.Add(max(got.retryAfter, backOff(1, longestPause))))
	}
	w.judge(q, a, got)
}

// judge counts a post for or against the receiver as a whole.
func (w *worker) judge(q *queue, a *attempt, got outcome) {
	if got.isReceivers {
		if w.outage.fail(q.chat, a.began, a.isProbe, got.status == http.StatusGone) {
			w.log.Warn().Str("failure", got.failure).Msg("webhook's receiver is down: one event at a time is tried")
		}
		return
	}
	if w.outage.isDown() {
		w.log.Info().Msg("webhook's receiver is back")
		w.dueNow()
	}
	w.outage.pass()
}

// leave takes an item out of its queue: it is delivered, dead, or not shown.
func (w *worker) leave(q *queue, it *item) {
	w.tried(it)
	if q.remove(it.EventID) { // else two chats have become one, and it is further back
		w.held--
	}
}
