package bridge

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Clock returns the time by which keys, old messages and old events expire. It follows the system
// clock, but not when it jumps ahead (an empty battery, a restored virtual machine), because
// everything would expire at once. It accepts a jump after the network has confirmed it, or after
// a day. A nil Clock is the system clock.
type Clock struct {
	wall func() time.Time     // may jump
	run  func() time.Duration // since some time; never jumps

	mu sync.Mutex // guards the fields from here on
	// believed was the time when run was believedAt.
	believed   time.Time
	believedAt time.Duration
	// network was the network's time when run was networkAt; zero if none was received yet.
	network   time.Time
	networkAt time.Duration
	// leapt is the value of run when the current jump was first seen, or -1.
	leapt time.Duration
}

const (
	// leapSize is how far the system clock may be ahead of the expected time without counting as
	// a jump.
	leapSize = time.Hour
	// leapLasts is how long an unconfirmed jump is ignored.
	leapLasts = 24 * time.Hour
)

// NewClock returns a clock for a process that starts now. last is a time in the past, such as the
// time of the newest stored thing. If it is zero, the system clock is accepted.
func NewClock(last time.Time) *Clock {
	start := time.Now()
	return ClockOf(last, func() time.Time { return time.Now().Round(0) }, func() time.Duration { return time.Since(start) })
}

// ClockOf is [NewClock] with a given system clock and time since a start.
func ClockOf(last time.Time, wall func() time.Time, run func() time.Duration) *Clock {
	c := &Clock{wall: wall, run: run, leapt: -1, believed: last, believedAt: run()}
	if last.IsZero() {
		c.believed = wall()
	}
	return c
}

// Now returns the time. It is never ahead of the system clock, unless the network's time is.
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
		now = network // the system clock is behind
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

// Confirm records a time from the network. It ignores times before the last one, because stanzas
// that the network has stored have the time of their arrival there.
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

// Sleep waits for d. It returns false if ctx ended before.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Wake sends to a channel with room for one element, unless there is one already: then its receiver
// is about to look anyway.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// timeLayout is RFC 3339 in UTC with exactly three decimals.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time in UTC with milliseconds, such as "2026-11-21T08:15:30.000Z".
type Time struct{ time.Time }

// These are the first and the last time that RFC 3339 can express.
var (
	first = time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)
	last  = time.Date(9999, time.December, 31, 23, 59, 59, 999_000_000, time.UTC)
)

// At returns t as a [Time], limited to the years 1 to 9999.
func At(t time.Time) Time {
	switch t = t.UTC().Truncate(time.Millisecond); {
	case t.Before(first):
		t = first
	case t.After(last):
		t = last
	}
	return Time{t}
}

// Millis returns the time ms milliseconds after the Unix epoch.
func Millis(ms int64) Time { return At(time.UnixMilli(ms)) }

// String returns the API's form.
func (t Time) String() string { return t.UTC().Format(timeLayout) }

// Append appends the API's form.
func (t Time) Append(b []byte) []byte { return t.UTC().AppendFormat(b, timeLayout) }

// MarshalJSON writes the API's form.
func (t Time) MarshalJSON() ([]byte, error) { return append(t.Append([]byte{'"'}), '"'), nil }

// UnmarshalJSON reads any RFC 3339 time.
func (t *Time) UnmarshalJSON(data []byte) error {
	var plain time.Time
	if err := plain.UnmarshalJSON(data); err != nil {
		return err
	}
	*t = At(plain)
	return nil
}

var errNoMoment = errors.New("must be a time like 2026-11-21T08:15:30Z or a date like 2026-11-21")

// parseTime reads RFC 3339, or a date, which means its start in UTC.
func parseTime(text string) (t time.Time, isDate bool, err error) {
	if t, err = time.Parse(time.DateOnly, text); err == nil {
		return t, true, nil
	}
	if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, false, errNoMoment
	}
	return t, false, nil
}

// ParseSince reads the start of a range, as RFC 3339 or a date, rounded up to the next
// millisecond.
func ParseSince(text string) (Time, error) {
	t, _, err := parseTime(text)
	if at := At(t); !at.Equal(t) {
		t = at.Add(time.Millisecond)
	}
	return At(t), err
}

// ParseUntil reads the end of a range, as RFC 3339 or a date, which means the end of that day.
func ParseUntil(text string) (Time, error) {
	t, isDate, err := parseTime(text)
	if isDate {
		t = t.Add(24*time.Hour - time.Millisecond)
	}
	return At(t), err
}

// RetryAfter returns the pause in a Retry-After header, in seconds or until a date (RFC 9110, section
// 10.2.3): at most longest, or 0 if the header is invalid.
func RetryAfter(value string, now time.Time, longest time.Duration) time.Duration {
	seconds, err := strconv.Atoi(value)
	if err == nil {
		return min(time.Duration(max(seconds, 0)), longest/time.Second) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), longest)
}
