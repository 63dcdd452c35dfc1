package hooks

import (
	"context"
	"errors"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

const (
	// renderWait limits how long a delivery or a preview waits to be rendered.
	renderWait = 5 * time.Second
	// treeRenderings limits the renderings that a token tree, or a hook of BRIDGE_TOKEN, has in
	// progress or waiting: many services post a delivery only once.
	treeRenderings = 4
	// operatorRenderings limits the renderings of all hooks of BRIDGE_TOKEN together.
	operatorRenderings = 16
)

// Renderer renders the templates of hooks, one at a time: each may take a second.
type Renderer struct{ slot *intake.Semaphore }

// NewRenderer returns a renderer.
func NewRenderer() *Renderer {
	return &Renderer{intake.NewSemaphore(intake.Limits{Slots: 1, Queued: treeRenderings, Hooks: operatorRenderings, Wait: renderWait})}
}

// Render returns the text of a payload. It refuses one beyond the quota of the caller's
// token tree, and one that waits for too long, with [bridge.CodeRateLimited].
func (r *Renderer) Render(ctx context.Context, template *Template, payload any, header http.Header) (text string, err error) {
	err = r.alone(ctx, func() error {
		text, err = template.Render(payload, header)
		return err
	})
	return text, err
}

// alone runs f while no other rendering runs.
func (r *Renderer) alone(ctx context.Context, f func() error) error {
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
