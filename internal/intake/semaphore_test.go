package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

// asks has callers of token trees ask for slots, which they hold for a second.
type asks struct {
	t         *testing.T
	semaphore *Semaphore
	all       sync.WaitGroup

	mu      sync.Mutex
	order   []int64       // of the trees that got a slot
	held    map[int64]int // guarded by mu
	most    map[int64]int // that a tree held at once
	refused map[int64]int
}

func newAsks(t *testing.T, limits Limits) *asks {
	return &asks{t: t, semaphore: NewSemaphore(limits), held: map[int64]int{}, most: map[int64]int{}, refused: map[int64]int{}}
}

func (a *asks) ask(tree int64) {
	a.all.Go(func() {
		release, err := a.semaphore.Acquire(bridge.WithTree(a.t.Context(), tree))
		defer release()
		defer release()
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil {
			a.refused[tree]++
			return
		}
		a.order = append(a.order, tree)
		a.held[tree]++
		a.most[tree] = max(a.most[tree], a.held[tree])
		a.mu.Unlock()
		time.Sleep(time.Second)
		a.mu.Lock()
		a.held[tree]--
	})
	synctest.Wait()
}

// A token tree has at most half of the slots, one slot is reserved for BRIDGE_TOKEN, and a tree
// that comes later waits for one of the others only.
func TestSemaphore_TokenTreesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsks(t, Limits{Slots: 2})
		for range 4 {
			a.ask(7)
		}
		a.ask(8)
		a.ask(Operator)
		a.mu.Lock()
		if !slices.Equal(a.order, []int64{7, Operator}) {
			t.Errorf("at once: %v", a.order)
		}
		a.mu.Unlock()
		a.ask(9)
		a.all.Wait()
		if want := []int64{7, Operator, 8, 7, 9, 7, 7}; !slices.Equal(a.order, want) {
			t.Errorf("in the order %v, want %v", a.order, want)
		}
		if a.most[7] != 1 || a.semaphore.used != 0 || len(a.semaphore.trees) != 0 {
			t.Errorf("at most %d at once; %d are held in the end", a.most[7], a.semaphore.used)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a := newAsks(t, Limits{Slots: 8})
		for tree := range int64(3) {
			for range 10 {
				a.ask(tree + 1)
			}
		}
		a.mu.Lock()
		if a.held[1] != 4 || a.held[2] != 2 || a.held[3] != 0 {
			t.Errorf("at once: %v", a.held)
		}
		a.mu.Unlock()
		a.all.Wait()
	})
}

// With one slot, BRIDGE_TOKEN is next, and others still get every second turn. Trees that ask
// again and again keep no other one out.
func TestSemaphore_OneSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsks(t, Limits{Slots: 1})
		for _, tree := range []int64{7, 7, 8, Operator, Operator, Operator} {
			a.ask(tree)
		}
		a.all.Wait()
		if want := []int64{7, 0, 8, 0, 7, 0}; !slices.Equal(a.order, want) {
			t.Errorf("in the order %v, want %v", a.order, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		a := newAsks(t, Limits{Slots: 1})
		ctx, stop := context.WithCancel(t.Context())
		for tree := range int64(3) { // one at a time, without a pause
			a.all.Go(func() {
				for ctx.Err() == nil {
					release, err := a.semaphore.Acquire(bridge.WithTree(ctx, tree+1))
					if err == nil {
						time.Sleep(time.Second)
					}
					release()
				}
			})
		}
		for range 5 {
			a.ask(7)
		}
		time.Sleep(20500 * time.Millisecond)
		a.mu.Lock()
		if len(a.order) != 5 {
			t.Errorf("%d of 5 got a slot", len(a.order))
		}
		a.mu.Unlock()
		stop()
		a.all.Wait()
	})
}

// Of each token tree so many may wait, for so long.
func TestSemaphore_IsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsks(t, Limits{Slots: 1, Queued: 3, Hooks: 4, Wait: 2500 * time.Millisecond})
		for _, tree := range []int64{7, 7, 7, 7, -1, -1, -1, -1, -2, -3, Operator} {
			a.ask(tree)
		}
		a.mu.Lock()
		if a.refused[7] != 1 || a.refused[-1] != 1 || a.refused[-2] != 0 || a.refused[-3] != 1 || a.refused[Operator] != 0 {
			t.Errorf("refused at once: %v", a.refused)
		}
		a.mu.Unlock()
		a.all.Wait()
		if want := []int64{7, Operator, -1}; !slices.Equal(a.order, want) {
			t.Errorf("in time: %v", a.order)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.semaphore.Acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("of one that has gone: %v", err)
		}
		if a.semaphore.used != 0 || len(a.semaphore.trees) != 0 {
			t.Errorf("%d are held in the end, %d trees", a.semaphore.used, len(a.semaphore.trees))
		}
	})
}
