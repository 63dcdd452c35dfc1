package api

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
)

// limiters bound how often each of some callers does a thing.
type limiters struct {
	perMinute, burst int
	refusal          string

	mu sync.Mutex
	of map[int64]*rate.Limiter // of those who did it lately; guarded by mu
}

// take counts one more, and refuses one too many with [bridge.CodeRateLimited].
func (l *limiters) take(id int64, now time.Time) error {
	reservation := l.limiter(id, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return &bridge.Error{Code: bridge.CodeRateLimited, Msg: l.refusal, RetryAfter: wait}
}

// limiter returns the limiter of a caller. A new one takes the place of those that are
// as good as new.
func (l *limiters) limiter(id int64, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[id] == nil {
		maps.DeleteFunc(l.of, func(_ int64, other *rate.Limiter) bool { return other.TokensAt(now) >= float64(l.burst) })
		if l.of == nil {
			l.of = make(map[int64]*rate.Limiter)
		}
		l.of[id] = rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.perMinute)), l.burst)
	}
	return l.of[id]
}
