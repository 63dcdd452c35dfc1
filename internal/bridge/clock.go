package bridge

import (
	"context"
	"sync"
	"time"
)

// Clock returns the time by which keys, old messages and old events expire. It follows
// the machine's clock, but not its leaps ahead (an empty battery, a restored virtual
// machine), by which everything would expire at once. A leap is believed once the network
// has confirmed it, or after a day: expiring late does no harm. A nil Clock is the
// machine's.
type Clock struct {
	wall func() time.Time     // may leap
	run  func() time.Duration // since some moment; never leaps

	mu sync.Mutex // guards the fields below
	// believed was the time when run was believedAt.
	believed   time.Time
	believedAt time.Duration
	// network was the network's time when run was networkAt; zero for none yet.
	network   time.Time
	networkAt time.Duration
	// leapt is when run was the present leap was first seen; -1 is none.
	leapt time.Duration
}

const (
	// leapSize is how far ahead of the expected time a clock is still believed.
	leapSize = time.Hour
	// leapLasts is how long a leap that is not confirmed is not believed.
	leapLasts = 24 * time.Hour
)

// NewClock returns a clock for a process that starts now. last is a time in the past, such
// as that of the newest thing stored; the zero time believes the machine.
func NewClock(last time.Time) *Clock {
	start := time.Now()
	return ClockOf(last, func() time.Time { return time.Now().Round(0) }, func() time.Duration { return time.Since(start) })
}

// ClockOf returns the [NewClock] of another machine: wall is its clock, and run how long
// it has been running.
func ClockOf(last time.Time, wall func() time.Time, run func() time.Duration) *Clock {
	c := &Clock{wall: wall, run: run, leapt: -1, believed: last, believedAt: run()}
	if last.IsZero() {
		c.believed = wall()
	}
	return c
}

// Now returns the time by which things expire: never ahead of the machine's clock, unless
// the network's time is.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, run := c.wall(), c.run()
	expected := c.believed.Add(run - c.believedAt)
	network := c.network.Add(run - c.networkAt)
	switch {
	case !c.network.IsZero() && now.Before(network.Add(-leapSize)):
		now = network // the machine's clock is behind
	case now.Before(expected.Add(leapSize)):
	case !c.network.IsZero() && now.Before(network.Add(leapSize)):
	case c.leapt >= 0 && run-c.leapt >= leapLasts:
	default:
		if c.leapt < 0 {
			c.leapt = run
		}
		return expected
	}
	c.believed, c.believedAt, c.leapt = now, run, -1
	return now
}

// Confirm notes a time that came from the network. Earlier ones than before do not count:
// stanzas that waited at the network have the time at which they came there.
func (c *Clock) Confirm(at time.Time) {
	if c == nil || at.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	run := c.run()
	if c.network.IsZero() || at.After(c.network.Add(run-c.networkAt)) {
		c.network, c.networkAt = at, run
	}
}

// Sleep waits for d and reports whether it did: false when ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
