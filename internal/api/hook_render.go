package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"bridged/internal/bridge"
	"bridged/internal/hooks"
	"bridged/internal/intake"
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

const (
	// familyRenderings is how many renderings a family has in progress or waiting,
	// and so has each hook that BRIDGE_TOKEN made: deliveries that come together are
	// not refused, since many services post each only once.
	familyRenderings = 4
	// operatorRenderings is how many BRIDGE_TOKEN and all its hooks have together.
	operatorRenderings = 16
)

// turns lets one rendering run at a time. Families take turns, in which all that is
// the operator's is one family: a rendering waits for at most one of each other
// family.
type turns struct {
	mu      sync.Mutex        // guards all below
	queues  map[int64][]*turn // by family; the one that runs is the first of its queue
	order   []int64           // the families that wait, but the one whose rendering runs
	running *turn
}

// turn is that of one rendering.
type turn struct {
	family int64         // as familyOfHook returns it
	begun  chan struct{} // closed when it may run
}

func newTurns() *turns { return &turns{queues: make(map[int64][]*turn)} }

// queue returns the family in whose queue a turn waits.
func (t *turn) queue() int64 { return max(t.family, intake.Operator) }

// enter returns a new turn of a family, which has to leave in any case; nil where
// the family has its share already.
func (t *turns) enter(family int64) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	entered := &turn{family: family, begun: make(chan struct{})}
	queue, own := t.queues[entered.queue()], 0
	for _, other := range queue {
		if other.family == family {
			own++
		}
	}
	if own >= familyRenderings || len(queue) >= operatorRenderings {
		return nil
	}
	if len(queue) == 0 {
		t.order = append(t.order, entered.queue())
	}
	t.queues[entered.queue()] = append(queue, entered)
	t.beginNext()
	return entered
}

// leave ends a turn, whether it has begun or not.
func (t *turns) leave(left *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	family := left.queue()
	queue := t.queues[family]
	i := slices.Index(queue, left)
	queue = slices.Delete(queue, i, i+1)
	t.queues[family] = queue
	switch {
	case len(queue) == 0:
		delete(t.queues, family)
		t.order = slices.DeleteFunc(t.order, func(other int64) bool { return other == family })
	case left == t.running:
		t.order = append(t.order, family)
	}
	if left == t.running {
		t.running = nil
	}
	t.beginNext()
}

// beginNext lets the next turn begin if none runs. The caller holds mu.
func (t *turns) beginNext() {
	if t.running != nil || len(t.order) == 0 {
		return
	}
	t.running = t.queues[t.order[0]][0]
	t.order = t.order[1:]
	close(t.running.begun)
}
