package api

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
)

const (
	// previewRate is how many previews a minute are made for all callers, and
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
	turn     chan struct{} // holds one element while a template is rendered
	previews *rate.Limiter
	now      func() time.Time
}

func newRenderer(now func() time.Time) *renderer {
	return &renderer{turn: make(chan struct{}, 1), previews: rate.NewLimiter(rate.Every(time.Minute/previewRate), previewBurst), now: now}
}

// preview counts a preview, and refuses one too many with
// [bridge.CodeRateLimited].
func (r *renderer) preview() error {
	reservation := r.previews.ReserveN(r.now(), 1)
	wait := reservation.DelayFrom(r.now())
	if wait == 0 {
		return nil
	}
	reservation.CancelAt(r.now())
	return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "templates can be tried 20 times a minute; try again a little later", RetryAfter: wait}
}

// render returns the text of a payload, once it is its turn. One that waits for too
// long is refused with [bridge.CodeRateLimited].
func (r *renderer) render(ctx context.Context, template *hooks.Template, payload any, header http.Header) (text string, err error) {
	err = r.alone(ctx, func() error {
		text, err = template.Render(payload, header)
		return err
	})
	return text, err
}

// alone runs f while no other one runs.
func (r *renderer) alone(ctx context.Context, f func() error) error {
	patience := time.NewTimer(renderWait)
	defer patience.Stop()
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "too many hooks are waiting for their templates; try again a little later", RetryAfter: renderWait}
	}
	defer func() { <-r.turn }()
	return f()
}
