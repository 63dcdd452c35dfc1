package api

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

const (
	// previewRate is how many previews a minute are made for a family, and
	// previewBurst how many of them at once. With the second that a template may take
	// that is a third of a processor.
	previewRate  = 20
	previewBurst = 30
	// renderWait is how long a delivery or a preview waits for its turn.
	renderWait = 5 * time.Second
)

// renderer renders the templates of hooks, one at a time: each may compute for a
// second, and callers choose how many there are.
type renderer struct {
	turns *turns
	now   func() time.Time

	mu       sync.Mutex
	previews map[int64]*rate.Limiter // of families that made previews lately; guarded by mu
}

func newRenderer(now func() time.Time) *renderer {
	return &renderer{turns: newTurns(), now: now, previews: make(map[int64]*rate.Limiter)}
}

// preview counts a preview of a family, and refuses one too many with
// [bridge.CodeRateLimited].
func (r *renderer) preview(family int64) error {
	now := r.now()
	reservation := r.previewsOf(family, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(now)
	return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "templates can be tried 20 times a minute; try again a little later", RetryAfter: wait}
}

// previewsOf returns the limiter of a family's previews. A new one takes the place of
// those that are as good as new.
func (r *renderer) previewsOf(family int64, now time.Time) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.previews[family] == nil {
		maps.DeleteFunc(r.previews, func(_ int64, other *rate.Limiter) bool { return other.TokensAt(now) >= previewBurst })
		r.previews[family] = rate.NewLimiter(rate.Every(time.Minute/previewRate), previewBurst)
	}
	return r.previews[family]
}

// render returns the text of a payload, once it is the turn of the caller's family.
// One beyond the family's share, and one that waits for too long, are refused with
// [bridge.CodeRateLimited].
func (r *renderer) render(ctx context.Context, template *hooks.Template, payload any, header http.Header) (text string, err error) {
	err = r.alone(ctx, callerOf(ctx).Family, func() error {
		text, err = template.Render(payload, header)
		return err
	})
	return text, err
}

// alone runs f for a family while no other one runs.
func (r *renderer) alone(ctx context.Context, family int64, f func() error) error {
	busy := &bridge.Error{Code: bridge.CodeRateLimited, Msg: "too many hooks are waiting for their templates; try again a little later", RetryAfter: renderWait}
	turn := r.turns.enter(family)
	if turn == nil {
		return busy
	}
	defer r.turns.leave(turn)
	patience := time.NewTimer(renderWait)
	defer patience.Stop()
	select {
	case <-turn.begun:
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return busy
	}
	return f()
}
