package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// ErrNoSlot means that no slot was free in time, or that too many callers of the same token tree
// wait.
var ErrNoSlot = errors.New("no slot is free")

// Limits configures a [Semaphore].
type Limits struct {
	Slots int
	// Queued limits how many callers of one token tree, or of one incoming webhook of
	// BRIDGE_TOKEN, hold or wait for a slot; 0 means no limit.
	Queued int
	// Hooks limits the callers of all incoming webhooks of BRIDGE_TOKEN together; 0 means no
	// limit.
	Hooks int
	// Wait limits the wait for a slot; 0 means that only the context limits it.
	Wait time.Duration
}

// hookTree represents all incoming webhooks of BRIDGE_TOKEN. Their numbers are negative, and they
// take turns as one token tree.
const hookTree int64 = -1

// Semaphore gives slots for expensive work to token trees in turn. No tree gets more than half of
// several slots, and one slot is reserved for BRIDGE_TOKEN. BRIDGE_TOKEN gets the next slot
// unless it has got the last one, so it waits for at most two others. Any other tree waits for
// one slot of each other tree, with one of BRIDGE_TOKEN in between.
//
// Work that waits for a slot should not hold large data.
type Semaphore struct {
	limits Limits
	quotas Quotas

	mu      sync.Mutex // guards the fields from here on
	used    int64
	others  int64 // part of used by trees other than the operator's
	trees   map[int64]*queue
	turn    int64 // of the last slot: twice the number of slots that were given
	last    int64 // the tree that got the last slot
	created int64 // number of queues so far
}

// queue has the callers of one token tree.
type queue struct {
	held    int64
	queued  map[int64]int // callers that hold or wait, by tree or incoming webhook
	sum     int           // of queued
	waiting []chan struct{}
	turn    int64 // of its last slot; a new queue comes right before the tree that got the last slot
	created int64 // orders new queues
}

// NewSemaphore returns a semaphore.
func NewSemaphore(l Limits) *Semaphore {
	return &Semaphore{limits: l, quotas: Divide(int64(l.Slots)), trees: make(map[int64]*queue)}
}

// Acquire waits for a slot for the token tree of ctx. release frees it; it is never nil and may
// be called more than once. The errors are [ErrNoSlot] and the error of ctx.
func (s *Semaphore) Acquire(ctx context.Context) (release func(), err error) {
	caller := bridge.TreeOf(ctx)
	given := s.enter(caller)
	if given == nil {
		return func() {}, ErrNoSlot
	}
	var late <-chan time.Time
	if s.limits.Wait > 0 {
		timer := time.NewTimer(s.limits.Wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-given:
	case <-ctx.Done():
		err = ctx.Err()
	case <-late:
		err = ErrNoSlot
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.leave(caller, given)
		return func() {}, err
	}
	return sync.OnceFunc(func() { s.leave(caller, given) }), nil
}

func treeOf(caller int64) int64 { return max(caller, hookTree) }

// enter queues a caller and returns the channel that is closed when the caller gets its slot, or
// nil if too many callers of its tree are queued.
func (s *Semaphore) enter(caller int64) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.trees[treeOf(caller)]
	if q == nil {
		s.created++
		q = &queue{queued: make(map[int64]int), turn: s.turn - 1, created: s.created}
		s.trees[treeOf(caller)] = q
	}
	isFull := s.limits.Queued > 0 && q.queued[caller] >= s.limits.Queued
	if isFull || s.limits.Hooks > 0 && caller < 0 && q.sum >= s.limits.Hooks {
		return nil
	}
	given := make(chan struct{})
	q.queued[caller]++
	q.sum++
	q.waiting = append(q.waiting, given)
	s.giveNext()
	return given
}

// leave removes a waiting caller from the queue, or frees its slot.
func (s *Semaphore) leave(caller int64, given chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := treeOf(caller)
	q := s.trees[tree]
	if i := slices.Index(q.waiting, given); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else {
		s.count(tree, q, -1)
	}
	q.sum--
	if q.queued[caller]--; q.queued[caller] == 0 {
		delete(q.queued, caller)
	}
	if q.sum == 0 {
		delete(s.trees, tree)
	}
	s.giveNext()
}

// count adds slots to the usage of a tree. The caller holds mu.
func (s *Semaphore) count(tree int64, q *queue, slots int64) {
	s.used += slots
	q.held += slots
	if tree != Operator {
		s.others += slots
	}
}

// giveNext gives free slots to the next trees. The caller holds mu.
func (s *Semaphore) giveNext() {
	for {
		tree, q := s.next()
		if q == nil {
			return
		}
		s.turn += 2
		q.turn, s.last = s.turn, tree
		s.count(tree, q, 1)
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
	}
}

// next returns the tree that gets the next slot, or nil. The caller holds mu.
func (s *Semaphore) next() (next int64, of *queue) {
	for tree, q := range s.trees {
		if len(q.waiting) == 0 || !s.fits(tree, q) {
			continue
		}
		if tree == Operator && s.last != Operator {
			return tree, q
		}
		if of == nil || q.turn < of.turn || q.turn == of.turn && q.created < of.created {
			next, of = tree, q
		}
	}
	return next, of
}

// fits reports whether a tree may get one more slot. The caller holds mu.
func (s *Semaphore) fits(tree int64, q *queue) bool {
	if s.used == s.quotas.All {
		return false
	}
	return tree == Operator || s.others < s.quotas.Others && q.held < s.quotas.Each
}

// Waiting returns how many callers of a token tree wait for a slot.
func (s *Semaphore) Waiting(tree int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.trees[treeOf(tree)]; q != nil {
		return len(q.waiting)
	}
	return 0
}
