package webhook

import (
	"math/rand/v2"
	"sync"
	"time"

	"bridged/internal/bridge"
)

const (
	// giveUpAfter is how long a delivery is tried before it is a dead letter:
	// long enough for a weekend.
	giveUpAfter = 72 * time.Hour
	// firstPause and longestPause bound the time between two tries.
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute

	// outageAfter is how many new events in a row must fail until the receiver
	// counts as down; longestOutage is the longest time until it is tried again.
	outageAfter   = 3
	longestOutage = time.Minute
)

// backOff is the pause after so many failures: doubling, with a part left to
// chance so that what failed together does not come back together.
func backOff(failures int, longest time.Duration) time.Duration {
	pause := longest
	if failures < 16 {
		pause = min(firstPause<<max(failures-1, 0), longest)
	}
	return pause*9/10 + rand.N(pause/5)
}

// note enters a try into its delivery.
func note(d *bridge.WebhookDelivery, got result, now time.Time) {
	at := bridge.At(now)
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
		d.Status = bridge.DeliveryDone
		return
	}
	if now.Sub(d.FirstAttemptAt.Time) >= giveUpAfter {
		abandon(d, got.failure)
		return
	}
	next := bridge.At(now.Add(backOff(d.Attempts, longestPause)))
	d.LastError, d.NextAttemptAt = &got.failure, &next
}

// abandon makes d a dead letter.
func abandon(d *bridge.WebhookDelivery, why string) {
	d.Status, d.LastError, d.NextAttemptAt = bridge.DeliveryAbandoned, &why, nil
}

// outage says whether anything gets through to a receiver. Only new events
// count against it: one that keeps failing says something of itself alone.
type outage struct {
	mu       sync.Mutex // guards all below
	failures int        // new events in a row that failed
	until    time.Time  // of the present pause
}

func (o *outage) note(success, isNew bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case success:
		o.failures, o.until = 0, time.Time{}
		return
	case isNew || o.failures >= outageAfter:
		o.failures++
	}
	if o.failures >= outageAfter {
		o.until = time.Now().Add(backOff(o.failures-outageAfter+1, longestOutage))
	}
}

// pause is how long nothing is to be posted.
func (o *outage) pause() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Until(o.until)
}

func (o *outage) down() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failures >= outageAfter
}

// end is for when something was changed: the past says nothing any more.
func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failures, o.until = 0, time.Time{}
}
