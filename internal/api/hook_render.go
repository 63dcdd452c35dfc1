package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
	"bridged/internal/intake"
)

const (
	// renderWait limits how long a delivery or a preview waits to be rendered.
	renderWait = 5 * time.Second
	// familyRenderings limits the renderings that a token tree, or a hook of BRIDGE_TOKEN, has in
	// progress or waiting: many services post a delivery only once.
	familyRenderings = 4
	// operatorRenderings limits the renderings of all hooks of BRIDGE_TOKEN together.
	operatorRenderings = 16
)

// renderer renders the templates of hooks, one at a time: each may take a second.
type renderer struct{ slot *intake.Semaphore }

func newRenderer() *renderer {
	return &renderer{intake.NewSemaphore(intake.Limits{Slots: 1, Queued: familyRenderings, Hooks: operatorRenderings, Wait: renderWait})}
}

// render returns the text of a payload. It refuses one beyond the quota of the caller's
// token tree, and one that waits for too long, with [bridge.CodeRateLimited].
func (r *renderer) render(ctx context.Context, template *hooks.Template, payload any, header http.Header) (text string, err error) {
	err = r.alone(ctx, func() error {
		text, err = template.Render(payload, header)
		return err
	})
	return text, err
}

// alone runs f while no other rendering runs.
func (r *renderer) alone(ctx context.Context, f func() error) error {
	release, err := r.slot.Acquire(ctx)
	if errors.Is(err, intake.ErrNoSlot) {
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "too many hooks are waiting for their templates; try again a little later", RetryAfter: renderWait}
	}
	if err != nil {
		return err
	}
	defer release()
	return f()
}
