package upkeep

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
)

// eventLimits keeps the log of events within its limits.
type eventLimits struct {
	age   time.Duration // 0 is no limit
	count int           // 0 is no limit
	store *store.Store
	log   zerolog.Logger

	aged    time.Time // when events were last removed by their age
	trimmed int64     // the last event when there were count of them
}

func newEventLimits(o Options) *eventLimits {
	return &eventLimits{age: o.EventsMaxAge, count: o.EventsMaxCount, store: o.Store, log: o.Log}
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

// before returns the moment before which events are too old, once a minute;
// else the zero time, which is before all of them. The store's clock does not
// follow a leap of the machine's.
func (l *eventLimits) before() time.Time {
	if l.age == 0 || time.Since(l.aged) < limitPause {
		return time.Time{}
	}
	l.aged = time.Now()
	return l.store.Clock().Now().Add(-l.age)
}
