package api

import (
	"slices"
	"sync"

	"bridged/internal/intake"
)

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
