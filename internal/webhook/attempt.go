package webhook

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/settings"
)

// attempt is a post of a delivery that is under way.
type attempt struct {
	bridge.WebhookDelivery
	log      settings.LogState // when the delivery was the next one of its chat
	began    time.Time
	cancel   context.CancelFunc
	isProbe  bool                       // tests whether the receiver is back
	accepted int                        // posts of the event that the receiver has accepted
	begunAs  bridge.Webhook             // the worker's settings at the start
	posts    atomic.Pointer[store.Post] // the event and the settings; nil until they are read
}

// isOutdated reports whether the attempt uses other settings, or its event is excluded now.
func (a *attempt) isOutdated(now bridge.Webhook) bool {
	p := a.posts.Load()
	if p == nil { // it may be reading the settings that it has begun with
		return isElsewhere(a.begunAs, now) || !reflect.DeepEqual(a.begunAs.EventFilter, now.EventFilter)
	}
	w := p.Webhook
	isWanted := a.EventType == bridge.EventReset || w.NamesSameChats(now.EventFilter) && now.Wants(p.Event)
	return isElsewhere(w, now) || !isWanted
}

// allowed returns how many posts may begin now. If it returns 0, it also returns after how long it has to be
// called again if no post ends before.
func (w *worker) allowed(now time.Time) (posts int, wait time.Duration) {
	quick, oldest := 0, now
	for _, a := range w.underWay {
		if a.isProbe && w.outage.isDown() || a.EventType == bridge.EventReset && w.refused < resetTries {
			return 0, idleTime
		}
		if now.Sub(a.began) < slowAfter {
			quick++
			if a.began.Before(oldest) {
				oldest = a.began
			}
		}
	}
	switch {
	case now.Before(w.pause):
		return 0, w.pause.Sub(now)
	case now.Before(w.outage.until):
		return 0, w.outage.until.Sub(now)
	case w.outage.isDown():
		return 1, 0
	case len(w.underWay) >= maxUnderWay:
		return 0, idleTime
	case quick >= parallel:
		return 0, oldest.Add(slowAfter).Sub(now)
	}
	return min(parallel-quick, maxUnderWay-len(w.underWay)), 0
}

// start begins at most the given number of posts. It returns how long to wait for the next delivery that
// becomes due.
func (w *worker) start(work store.WebhookWork, posts int) time.Duration {
	due := work.Due
	reset := slices.IndexFunc(due, func(d bridge.WebhookDelivery) bool { return d.EventType == bridge.EventReset })
	switch {
	case reset >= 0 && w.refused < resetTries:
		due = due[reset : reset+1]
	case len(due) > 0 && w.outage.isDown():
		due = w.outage.choose(due)
	}
	failed := 0
	for _, a := range w.underWay {
		if a.Attempts > 0 {
			failed++
		}
	}
	wait := idleTime
	for _, d := range due {
		pause := w.pauseOf(d)
		switch {
		case pause > 0:
			wait = min(wait, pause)
		case posts > 0 && (d.Attempts == 0 || failed < parallelFailed):
			w.begin(d, work.Log)
			posts--
			if d.Attempts > 0 {
				failed++
			}
		}
	}
	return wait
}

// pauseOf returns the time until the next try of a delivery. It returns 0 if the delivery was not tried
// yet, if the receiver is down (outage sets the pauses then), or if the clock was set back.
func (w *worker) pauseOf(d bridge.WebhookDelivery) time.Duration {
	if d.Attempts == 0 || d.NextAttemptAt == nil || w.outage.isDown() {
		return 0
	}
	pause := d.NextAttemptAt.Sub(w.d.wall())
	if pause > longestWait {
		return 0
	}
	return pause
}

// begin posts a delivery in the background.
func (w *worker) begin(d bridge.WebhookDelivery, log settings.LogState) {
	ctx, cancel := context.WithCancel(w.posting)
	a := &attempt{
		WebhookDelivery: d, log: log, began: time.Now(), cancel: cancel, isProbe: w.outage.isDown(),
		accepted: w.tries[d.ID].accepted, begunAs: w.settings,
	}
	w.underWay[d.ID] = a
	go func() {
		defer cancel()
		w.results <- w.d.try(ctx, a)
	}()
}

// result holds how a try ended.
type result struct {
	*attempt
	now      settings.LogState // as the try has found it
	err      error             // the store could not be read
	isPosted bool
	outcome
}

// try reads the event of a delivery and posts it.
func (d *Dispatcher) try(ctx context.Context, a *attempt) result {
	p, err := d.read(ctx, a.WebhookDelivery)
	r := result{attempt: a, now: p.Log, err: err}
	// If the log has changed, another delivery may be the next one.
	if ctx.Err() == nil && err == nil && p.Log == a.log && p.Shown {
		a.posts.Store(&p)
		accepted := a.accepted
		if isElsewhere(a.begunAs, p.Webhook) { // the worker has not read them yet
			accepted = 0
		}
		r.outcome = d.deliver(ctx, p, a.WebhookDelivery, accepted)
		r.isPosted = !r.hasNoPost
	}
	r.isInterrupted = ctx.Err() != nil && (!r.isPosted || r.failure != "")
	return r
}

// settle applies the result of a try.
func (w *worker) settle(r result) {
	delete(w.underWay, r.ID)
	switch {
	case r.isInterrupted: // it is tried again at once
	case bridge.CodeOf(r.err) == bridge.CodeNotFound:
		w.gone = true
	case r.err != nil:
		w.log.Error().Err(r.err).Msg("cannot read an event to post; trying again")
		w.hold(time.Now().Add(storeRetry))
	case r.isPosted:
		w.note(r.attempt, r.outcome)
	case r.now == r.log:
		delete(w.tries, r.ID)
		w.progress.Dropped = append(w.progress.Dropped, r.ID)
	}
}

// hold stops posting until a time, also while the receiver is down.
func (w *worker) hold(until time.Time) {
	if until.After(w.pause) {
		w.pause = until
	}
}

// note records the outcome of a post.
func (w *worker) note(a *attempt, got outcome) {
	now := time.Now()
	d := a.WebhookDelivery
	w.recordTry(&d, got, now)
	delete(w.tries, d.ID)
	if d.Status == bridge.WebhookPending {
		remembered := tries{last: now, accepted: got.accepted}
		if isElsewhere(a.posts.Load().Webhook, w.settings) {
			remembered.accepted = 0
		}
		w.tries[d.ID] = remembered
		next := bridge.At(w.d.wall().Add(backOff(d.Attempts, longestPause) + time.Millisecond)) // At rounds down
		d.NextAttemptAt = &next
	}
	w.progress.Deliveries = append(w.progress.Deliveries, d)
	if d.EventType == bridge.EventReset && got.status != 0 {
		w.refused++
	}
	if got.status == http.StatusTooManyRequests || got.retryAfter > 0 {
		// Without Retry-After only this event may be refused. It waits longer by itself.
		w.hold(now.Add(max(got.retryAfter, backOff(1, longestPause))))
	}
	w.judge(a, got)
}

// judge updates the outage by the outcome of a post.
func (w *worker) judge(a *attempt, got outcome) {
	if got.receiverFailed {
		if w.outage.fail(a.Queue, a.began, a.isProbe, got.status == http.StatusGone) {
			w.log.Warn().Str("failure", got.failure).Msg("webhook's receiver is down: one event at a time is tried")
		}
		return
	}
	if w.outage.isDown() {
		w.log.Info().Msg("webhook's receiver is back")
		w.tryAllNow()
	}
	w.outage.pass()
}
