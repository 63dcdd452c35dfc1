package upkeep

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

const (
	limitPause = time.Minute // between looks at a log that does not grow
	busyPause  = time.Second // between looks at one that does
)

// eventLimits keeps the log of events within its limits.
type eventLimits struct {
	Options
	aged    time.Time // when events were last removed by their age
	trimmed int64     // the last event when they were last counted
}

// keep removes events as they become too old or too many, until ctx ends.
func (l *eventLimits) keep(ctx context.Context) {
	for ctx.Err() == nil {
		changed := l.Store.Changed()
		if err := l.apply(ctx); err != nil && ctx.Err() == nil {
			l.Log.Error().Err(err).Msg("old events not removed; trying again in a minute")
			changed = nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(limitPause):
		case <-changed:
			bridge.Sleep(ctx, busyPause)
		}
	}
}

// apply removes old and surplus events. The log may grow by a hundredth before it is
// trimmed: each time is a transaction.
func (l *eventLimits) apply(ctx context.Context) error {
	last, err := l.Store.LastEvent(ctx)
	if err != nil {
		return err
	}
	isLong := l.EventsMaxCount > 0 && (l.trimmed == 0 || last-l.trimmed > int64(l.EventsMaxCount/100))
	before := l.before()
	if !isLong && before.IsZero() {
		return nil
	}
	removed, err := l.Store.PruneEvents(ctx, before, l.EventsMaxCount)
	if err != nil {
		return err
	}
	l.trimmed = last
	if removed > 0 {
		l.Log.Debug().Int("count", removed).Msg("old events removed")
	}
	return nil
}

// before returns the moment before which events are too old, once a minute; else the zero
// time. The store's clock does not follow a leap of the machine's.
func (l *eventLimits) before() time.Time {
	if l.EventsMaxAge == 0 || time.Since(l.aged) < limitPause {
		return time.Time{}
	}
	l.aged = time.Now()
	return l.Store.Clock().Now().Add(-l.EventsMaxAge)
}
