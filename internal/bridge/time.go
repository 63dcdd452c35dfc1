package bridge

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Clock returns the time by which keys, old messages and old events expire. It follows
// the machine's clock, but not its leaps ahead (an empty battery, a restored virtual
// machine), by which everything would expire at once. It believes a leap once the network
// has confirmed it, or after a day. A nil Clock is the machine's.
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
	// leapSize bounds how far ahead of the expected time a clock is still believed.
	leapSize = time.Hour
	// leapLasts bounds how long a leap that is not confirmed is not believed.
	leapLasts = 24 * time.Hour
)

// NewClock returns a clock for a process that starts now. last is a time in the past, such
// as that of the newest thing stored; the zero time believes the machine.
func NewClock(last time.Time) *Clock {
	start := time.Now()
	return ClockOf(last, func() time.Time { return time.Now().Round(0) }, func() time.Duration { return time.Since(start) })
}

// ClockOf returns the [NewClock] of a machine, by its clock and the time since its start.
func ClockOf(last time.Time, wall func() time.Time, run func() time.Duration) *Clock {
	c := &Clock{wall: wall, run: run, leapt: -1, believed: last, believedAt: run()}
	if last.IsZero() {
		c.believed = wall()
	}
	return c
}

// Now returns the time, never ahead of the machine's clock unless the network's time is.
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

// timeLayout writes RFC 3339 in UTC with exactly three decimals.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a moment in UTC with milliseconds, "2026-11-21T08:15:30.000Z".
type Time struct{ time.Time }

// The first and the last moment that RFC 3339 can write.
var (
	first = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)
	last  = time.Date(9999, time.December, 31, 23, 59, 59, 999_000_000, time.UTC)
)

// At returns t as the API shows it, within the years 1 to 9999.
func At(t time.Time) Time {
	switch t = t.UTC().Truncate(time.Millisecond); {
	case t.Before(first):
		t = first
	case t.After(last):
		t = last
	}
	return Time{t}
}

// Millis returns the moment ms milliseconds after the Unix epoch.
func Millis(ms int64) Time { return At(time.UnixMilli(ms)) }

// String returns the API's form.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// Append appends the API's form.
func (t Time) Append(b []byte) []byte { return t.UTC().AppendFormat(b, timeLayout) }

// MarshalJSON writes the API's form.
func (t Time) MarshalJSON() ([]byte, error) { return append(t.Append([]byte{'"'}), '"'), nil }

// UnmarshalJSON reads any RFC 3339 moment.
func (t *Time) UnmarshalJSON(data []byte) error {
	var plain time.Time
	if err := plain.UnmarshalJSON(data); err != nil {
		return err
	}
	*t = At(plain)
	return nil
}

var errNoMoment = errors.New("must be a moment like 2026-11-21T08:15:30Z or a date like 2026-11-21")

// parseMoment reads RFC 3339, or a date alone, which is its first moment in UTC.
func parseMoment(text string) (t time.Time, isDate bool, err error) {
	if t, err = time.Parse(time.DateOnly, text); err == nil {
		return t, true, nil
	}
	if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, false, errNoMoment
	}
	return t, false, nil
}

// ParseSince reads the first moment of a range, as RFC 3339 or a date: the next one that a
// message can have.
func ParseSince(text string) (Time, error) {
	t, _, err := parseMoment(text)
	if at := At(t); !at.Equal(t) {
		t = at.Add(time.Millisecond)
	}
	return At(t), err
}

// ParseUntil reads the last moment of a range, as RFC 3339 or a date, which means its end.
func ParseUntil(text string) (Time, error) {
	t, isDate, err := parseMoment(text)
	if isDate {
		t = t.Add(24*time.Hour - time.Millisecond)
	}
	return At(t), err
}
