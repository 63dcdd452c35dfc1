package webhook

import (
	"math/rand/v2"
	"time"

	"bridged/internal/bridge"
)

const (
	// giveUpAfter makes a delivery a dead letter: long enough for a weekend.
	giveUpAfter = 72 * time.Hour
	// firstPause and longestPause bound the time between two tries.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// longestAsked limits the pause that a receiver may ask for.
	longestAsked = time.Hour
	// resetTries limits how often a receiver may refuse a reset before other events
	// pass it: about two minutes.
	resetTries = 8
)

// backOff returns the pause after a number of failures: doubling, with a random part so
// that deliveries which failed together are not tried together again.
func backOff(failures int, longest time.Duration) time.Duration {
	pause := longest
	if failures < 16 {
		pause = min(firstPause<<max(failures-1, 0), longest)
	}
	return pause*9/10 + rand.N(pause/5)
}

// enterTry enters the outcome of a post into its delivery. How long it has been tried is
// the sum of pauses: those of other processes count at most as the longest, so that
// neither a clock that jumps nor a stop makes a dead letter.
func (w *worker) enterTry(it *item, got outcome, now time.Time) {
	wall := w.d.wall()
	switch {
	case !it.lastTry.IsZero():
		it.Tried += now.Sub(it.lastTry)
	case it.LastAttemptAt != nil:
		it.Tried += min(max(wall.Sub(it.LastAttemptAt.Time), 0), longestPause)
	}
	it.lastTry = now
	enter(&it.WebhookDelivery, got, wall)
	if it.Status == bridge.WebhookPending && it.Tried >= giveUpAfter {
		abandon(&it.WebhookDelivery, got.failure)
	}
}

// enter enters the outcome of a post, but no consequence of it.
func enter(d *bridge.WebhookDelivery, got outcome, wall time.Time) {
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
