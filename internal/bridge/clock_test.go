package bridge

import (
	"testing"
	"time"
)

// machine is a machine whose clock can be set.
type machine struct {
	ran time.Duration
	set time.Duration // how far the clock is off
}

var machineStart = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func (m *machine) clock(last time.Time) *Clock {
	return ClockOf(last, func() time.Time { return machineStart.Add(m.ran + m.set) }, func() time.Duration { return m.ran })
}

func wantNow(t *testing.T, c *Clock, what string, want time.Time) {
	t.Helper()
	if got := c.Now(); !got.Equal(want) {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestClock_FollowsTheMachine(t *testing.T) {
	m := &machine{}
	c := m.clock(time.Time{})
	for _, d := range []time.Duration{0, time.Minute, 100 * 24 * time.Hour} {
		m.ran += d
		wantNow(t, c, "a steady clock", machineStart.Add(m.ran))
	}
	m.set = 20 * time.Minute
	wantNow(t, c, "a clock that was put right", machineStart.Add(m.ran+m.set))
}

func TestClock_DoesNotFollowALeapAhead(t *testing.T) {
	m := &machine{}
	c := m.clock(time.Time{})
	wantNow(t, c, "before", machineStart)
	m.ran, m.set = time.Minute, 10*365*24*time.Hour
	wantNow(t, c, "after the leap", machineStart.Add(time.Minute))
	m.ran = 12 * time.Hour
	wantNow(t, c, "half a day later", machineStart.Add(12*time.Hour))
	m.set = 0
	wantNow(t, c, "put right again", machineStart.Add(12*time.Hour))
	m.set = 10 * 24 * time.Hour
	m.ran = 13 * time.Hour
	wantNow(t, c, "another leap begins anew", machineStart.Add(13*time.Hour))
	m.ran = 38 * time.Hour
	wantNow(t, c, "a leap that has lasted for a day", machineStart.Add(38*time.Hour+m.set))
}

func TestClock_BelievesALeapThatTheNetworkConfirms(t *testing.T) {
	m := &machine{}
	c := m.clock(time.Time{})
	m.ran, m.set = time.Minute, 8*time.Hour // it was asleep
	wantNow(t, c, "not yet confirmed", machineStart.Add(time.Minute))
	c.Confirm(machineStart.Add(m.ran - time.Hour)) // waited at the network
	wantNow(t, c, "an old message confirms nothing", machineStart.Add(time.Minute))
	c.Confirm(machineStart.Add(m.ran + m.set - time.Second))
	wantNow(t, c, "confirmed", machineStart.Add(m.ran+m.set))
}

func TestClock_KnowsWhatWasStored(t *testing.T) {
	m := &machine{set: 30 * 365 * 24 * time.Hour}
	last := machineStart.Add(-time.Hour)
	c := m.clock(last)
	wantNow(t, c, "a start with a clock far ahead", last)
	m.ran = time.Hour
	wantNow(t, c, "an hour later", last.Add(time.Hour))
}

func TestClock_GoesBackWithTheMachine(t *testing.T) {
	m := &machine{}
	c := m.clock(time.Time{})
	m.ran, m.set = time.Minute, -30*24*time.Hour
	wantNow(t, c, "a leap back expires nothing", machineStart.Add(m.ran+m.set))
	m.set = 0
	wantNow(t, c, "the way ahead again is a leap", machineStart.Add(m.ran-30*24*time.Hour))
	c.Confirm(machineStart.Add(m.ran))
	wantNow(t, c, "until it is confirmed", machineStart.Add(m.ran))
	m.set = -365 * 24 * time.Hour
	wantNow(t, c, "the network knows better than a clock that is behind", machineStart.Add(m.ran))
}
