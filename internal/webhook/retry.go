package webhook

import (
	"math/rand/v2"
	"time"

	"bridged/internal/bridge"
)

const (
	// giveUpAfter is when a delivery becomes a dead letter. It is longer than a weekend.
	giveUpAfter = 72 * time.Hour
	// firstPause and longestPause limit the time between two tries.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	longestWait  = longestPause * 11 / 10 // with the random part: see backOff
	// longestAsked limits the pause that a receiver may ask for.
	longestAsked = time.Hour
	// resetTries limits how often a receiver may refuse a reset before other events are posted. The
	// tries take about two minutes.
	resetTries = 8
	// A receiver counts as down after failures for outageAfter chats without a success.
	// It is tried again at least every longestOutage.
	outageAfter   = 3
	longestOutage = time.Minute
)

// backOff returns the pause after a number of failures. It doubles with each failure. A random part
// spreads the next tries of deliveries that failed at the same time.
func backOff(failures int, longest time.Duration) time.Duration {
	pause := longest
	if failures < 16 {
		pause = min(firstPause<<max(failures-1, 0), longest)
	}
	return pause*9/10 + rand.N(pause/5)
}

// recordTry enters the outcome of a post into its delivery, and makes the delivery a dead letter if it
// was tried for too long.
func (w *worker) recordTry(d *bridge.WebhookDelivery, got outcome, now time.Time) {
	wall := w.d.wall()
	// Tried is the sum of the pauses. A pause that began in an earlier process is limited: neither a stop
	// nor a clock that jumps makes a dead letter.
	switch last := w.tries[d.ID].last; {
	case !last.IsZero():
		d.Tried += now.Sub(last)
	case d.LastAttemptAt != nil:
		d.Tried += min(max(wall.Sub(d.LastAttemptAt.Time), 0), longestPause)
	}
	record(d, got, wall)
	if d.Status == bridge.WebhookPending && d.Tried >= giveUpAfter {
		abandon(d, got.failure)
	}
}

// record stores the outcome of a post in its delivery. It does not decide about the next try.
func record(d *bridge.WebhookDelivery, got outcome, wall time.Time) {
	at := bridge.At(wall)
	d.Attempts++
	d.LastAttemptAt = &at
	if d.FirstAttemptAt == nil {
		d.FirstAttemptAt = &at
	}
	d.ResponseStatus, d.LastError, d.NextAttemptAt = nil, nil, nil
	if got.status != 0 {
		d.ResponseStatus = &got.status
	}
	if got.failure == "" {
		d.Status = bridge.WebhookDelivered
		return
	}
	d.LastError = &got.failure
}

// abandon makes d a dead letter.
func abandon(d *bridge.WebhookDelivery, why string) {
	d.Status, d.LastError, d.NextAttemptAt = bridge.WebhookDead, &why, nil
}

// outage tracks whether a receiver is down: it cannot be reached, does not answer in time, or answers
// with server errors. Other refusals (4xx) concern one event. While the receiver is down, one event at
// a time is tried, with growing pauses.
type outage struct {
	failed  map[int64]bool // chats with a failure since the last success
	success time.Time      // the last one
	isGone  bool           // the receiver answered 410
	rounds  int            // failed tries while it is down
	until   time.Time      // when the next event is tried
}

func (o *outage) isDown() bool { return len(o.failed) >= outageAfter || o.isGone }

// fail records the failure of a post that began at the given time, and reports whether the receiver
// has gone down by it. It ignores the failure if another post has succeeded since that time.
func (o *outage) fail(chat int64, began time.Time, isProbe, isGone bool) bool {
	was := o.isDown()
	if !was && began.Before(o.success) {
		return false
	}
	o.isGone = o.isGone || isGone
	if !was {
		if o.failed == nil {
			o.failed = make(map[int64]bool)
		}
		o.failed[chat] = true
	}
	if !o.isDown() || was && !isProbe {
		return false
	}
	o.rounds++
	pause := backOff(o.rounds, longestOutage)
	if o.isGone {
		pause = longestOutage
	}
	o.until = time.Now().Add(pause)
	return !was
}

// choose returns the delivery that is tried next while the receiver is down, from the list of
// [settings.Due]. A delivery that was not tried yet and one that has failed take turns: either
// may be the one that the receiver accepts.
func (o *outage) choose(due []bridge.WebhookDelivery) []bridge.WebhookDelivery {
	if last := due[len(due)-1:]; last[0].Attempts == 0 && o.rounds%2 == 1 {
		return last
	}
	return due[:1]
}

// pass records a success.
func (o *outage) pass() {
	o.end()
	o.success = time.Now()
}

// end forgets the failures.
func (o *outage) end() {
	o.failed, o.isGone, o.rounds, o.until = nil, false, 0, time.Time{}
}
