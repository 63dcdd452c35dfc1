package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
	"bridged/internal/intake"
)

const (
	// renderWait limits how long a delivery or a preview waits for its turn.
	renderWait = 5 * time.Second
	// familyRenderings limits the renderings that a family, or a hook of BRIDGE_TOKEN, has in
	// progress or waiting: many services post a delivery only once.
	familyRenderings = 4
	// operatorRenderings limits those of BRIDGE_TOKEN and all its hooks together.
	operatorRenderings = 16
)

// renderer renders the templates of hooks, one at a time: each may take a second.
type renderer struct {
	running chan struct{} // has a value while a template is rendered

	mu       sync.Mutex
	families map[int64]*renderings // that render or wait; guarded by mu
}

// renderings counts those of one family; the operator and all its hooks are one.
type renderings struct {
	next  chan struct{} // has a value while one of them is rendered or the next in line
	count int           // of all
	of    map[int64]int // by the caller's family
}

func newRenderer() *renderer {
	return &renderer{running: make(chan struct{}, 1), families: make(map[int64]*renderings)}
}

// render returns the text of a payload. It refuses one beyond the share of the caller's
// family, and one that waits for too long, with [bridge.CodeRateLimited].
func (r *renderer) render(ctx context.Context, template *hooks.Template, payload any, header http.Header) (text string, err error) {
	err = r.alone(ctx, callerOf(ctx).Family, func() error {
		text, err = template.Render(payload, header)
		return err
	})
	return text, err
}

// alone runs f for a family while no other one runs. Each family has one in line for that,
// which therefore waits for at most one of each other family.
func (r *renderer) alone(ctx context.Context, family int64, f func() error) error {
	busy := &bridge.Error{Code: bridge.CodeRateLimited, Msg: "too many hooks are waiting for their templates; try again a little later", RetryAfter: renderWait}
	own := r.enter(family)
	if own == nil {
		return busy
	}
	defer r.leave(own, family)
	patience := time.NewTimer(renderWait)
	defer patience.Stop()
	for _, place := range []chan struct{}{own.next, r.running} {
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return busy
		}
	}
	return f()
}

// enter counts a rendering; it returns nil where the family has its share already.
func (r *renderer) enter(family int64) *renderings {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.families[max(family, intake.Operator)]
	if own == nil {
		own = &renderings{next: make(chan struct{}, 1), of: make(map[int64]int)}
		r.families[max(family, intake.Operator)] = own
	}
	if own.of[family] >= familyRenderings || own.count >= operatorRenderings {
		return nil
	}
	own.count++
	own.of[family]++
	return own
}

func (r *renderer) leave(own *renderings, family int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own.of[family]--
	if own.count--; own.count == 0 {
		delete(r.families, max(family, intake.Operator))
	}
}
