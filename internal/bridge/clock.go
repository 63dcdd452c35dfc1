package bridge

import (
	"sync"
	"time"
)

// Clock tells the time by which things expire: keys, old messages, old events.
// It follows the machine's clock, but not its leaps ahead, by which everything
// would expire at once: a machine that has lost its battery, a virtual one that
// was restored, somebody's slip. A leap is believed once the network has
// confirmed it, or once it has lasted for a day: what expires late does no
// harm.
//
// A nil Clock is the machine's.
type Clock struct {
	wall func() time.Time     // may leap
	run  func() time.Duration // since some moment; never leaps

	mu sync.Mutex // guards the fields below
	// believed was the time when run was believedAt.
	believed   time.Time
	believedAt time.Duration
	// network was the network's time when run was networkAt; the zero time is
	// none yet.
	network   time.Time
	networkAt time.Duration
	// leapt is when run was the present leap was first seen; -1 is none.
	leapt time.Duration
}

const (
	// leapSize is how far ahead of what was to be expected a clock is still
	// believed: clocks drift, and are set.
	leapSize = time.Hour
	// leapLasts is how long a leap that nobody confirms is not believed.
	leapLasts = 24 * time.Hour
)

// NewClock returns a clock for a process that starts now. last is a time of
// which it is known that it has been, such as that of the newest thing stored;
// the zero time believes the machine.
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

// Now returns the time by which things expire. It is never ahead of the
// machine's clock but where the network's time is.
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

// Confirm notes a time that the network has told. Only later ones than it told
// before count: what waited at the network comes with its own time.
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
