package callers

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
)

// Limiters bound how often each caller does something.
type Limiters struct {
	PerMinute, Burst int
	Refusal          string

	mu sync.Mutex
	of map[int64]*rate.Limiter // by the id of the caller; guarded by mu
}

// Take counts one call of a caller, or refuses it with [bridge.CodeRateLimited].
func (l *Limiters) Take(id int64, now time.Time) error {
	reservation := l.limiter(id, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return &bridge.Error{Code: bridge.CodeRateLimited, Msg: l.Refusal, RetryAfter: wait}
}

// limiter returns the limiter of a caller. Adding one removes all that are full again.
func (l *Limiters) limiter(id int64, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[id] == nil {
		maps.DeleteFunc(l.of, func(_ int64, other *rate.Limiter) bool { return other.TokensAt(now) >= float64(l.Burst) })
		if l.of == nil {
			l.of = make(map[int64]*rate.Limiter)
		}
		l.of[id] = rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.PerMinute)), l.Burst)
	}
	return l.of[id]
}
