package webhook

import "time"

const (
	// A receiver counts as down after failures for outageAfter chats without a success.
	// It is tried again at least every longestOutage.
	outageAfter   = 3
	longestOutage = time.Minute
)

// outage tracks whether a receiver is down: it cannot be reached, does not answer in
// time, or always fails. A refusal (4xx) is about the event alone. While it is down one
// event at a time is tried, with growing pauses. It belongs to a worker.
type outage struct {
	failed  map[int64]bool // chats, since something has got through
	heard   time.Time      // when that was
	isGone  bool           // it has said that it will not come back
	rounds  int
	until   time.Time // when the next event is tried
	probing bool      // one is being tried
}

func (o *outage) isDown() bool { return len(o.failed) >= outageAfter || o.isGone }

// fail notes that a post has failed that began at a moment, and reports whether
// the receiver counts as down from now on. If something got through since then
// the failure says nothing of the receiver.
func (o *outage) fail(chat int64, began time.Time, isProbe, isGone bool) bool {
	was := o.isDown()
	if !was && began.Before(o.heard) {
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

// triesNew reports whether a new delivery is tried next while the receiver is down, in
// turn with those that failed before: either may be the one that it takes.
func (o *outage) triesNew() bool { return o.rounds%2 == 1 }

// pass notes that something got through.
func (o *outage) pass() {
	o.end()
	o.heard = time.Now()
}

// end forgets failures, for when the settings have changed.
func (o *outage) end() {
	o.failed, o.isGone, o.rounds, o.until = nil, false, 0, time.Time{}
}
