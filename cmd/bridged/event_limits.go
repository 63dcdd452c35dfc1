package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/store"
)

const (
	// limitPause is how often the log is looked at when nothing is added to it.
	limitPause = time.Minute
	// busyPause is how long to leave the log alone after a look at it.
	busyPause = time.Second
	// steadyTime is how long the clock must not have jumped until events are
	// removed by their age, and jump how far it may be off meanwhile.
	steadyTime = time.Hour
	jump       = time.Minute
)

// eventLimits keeps the log of events within its limits.
type eventLimits struct {
	age   time.Duration // 0 is no limit
	count int           // 0 is no limit
	store *store.Store
	log   zerolog.Logger
	clock steadyClock

	trimmed int64 // the last event when there were count of them
}

func newEventLimits(c config, s *store.Store, log zerolog.Logger) *eventLimits {
	return &eventLimits{age: c.EventsMaxAge, count: c.EventsMaxCount, store: s, log: log, clock: steadyClock{wall: time.Now}}
}

// keep removes events as they become too old or too many, until ctx ends.
func (l *eventLimits) keep(ctx context.Context) {
	looked := time.NewTimer(0)
	defer looked.Stop()
	for {
		changed := l.store.Changed()
		if err := l.apply(ctx); err != nil && ctx.Err() == nil {
			l.log.Error().Err(err).Msg("old events not removed; trying again in a minute")
			changed = nil
		}
		looked.Reset(limitPause)
		select {
		case <-ctx.Done():
			return
		case <-looked.C:
			continue
		case <-changed:
		}
		looked.Reset(busyPause)
		select {
		case <-ctx.Done():
			return
		case <-looked.C:
		}
	}
}

// apply removes what is beyond the limits. A log may grow by a hundredth before
// it is trimmed: each time is a transaction.
func (l *eventLimits) apply(ctx context.Context) error {
	last, err := l.store.LastEvent(ctx)
	if err != nil {
		return err
	}
	isLong := l.count > 0 && (l.trimmed == 0 || last-l.trimmed > int64(l.count/100))
	before := l.before()
	if !isLong && before.IsZero() {
		return nil
	}
	removed, err := l.store.PruneEvents(ctx, before, l.count)
	if err != nil {
		return err
	}
	l.trimmed = last
	if removed > 0 {
		l.log.Debug().Int("count", removed).Msg("old events removed")
	}
	return nil
}

// before returns the moment before which events are too old, once a minute and
// while the clock can be trusted; else zero, which is before all of them.
func (l *eventLimits) before() time.Time {
	if l.age == 0 || !l.clock.look() || l.clock.steady() < min(steadyTime, l.age) {
		return time.Time{}
	}
	return l.clock.wall().Add(-l.age)
}

// steadyClock measures for how long the wall clock has agreed with the monotonic
// one. A start begins at zero.
type steadyClock struct {
	wall   func() time.Time
	shown  time.Time // at the last look
	looked time.Time // when that was
	since  time.Time // of the last jump
}

// look compares the two, and reports whether it is time to: once a minute.
func (c *steadyClock) look() bool {
	now, shown := time.Now(), c.wall().Round(0) // without the monotonic reading
	passed := now.Sub(c.looked)
	if !c.looked.IsZero() && passed < limitPause {
		return false
	}
	off := shown.Sub(c.shown) - passed
	if c.looked.IsZero() || off > jump || off < -jump {
		c.since = now
	}
	c.looked, c.shown = now, shown
	return true
}

func (c *steadyClock) steady() time.Duration { return time.Since(c.since) }
