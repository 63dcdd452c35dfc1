package hooks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// However many templates are rendered, they take one processor: those that wait for
// too long are refused, and those whose callers leave do not begin.
func TestRenderer_RendersOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRenderer()
		var mu sync.Mutex
		running, most, ended, refused := 0, 0, 0, 0
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				err := r.alone(bridge.WithTree(t.Context(), int64(i+1)), func() error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					running--
					ended++
					return nil
				})
				mu.Lock()
				defer mu.Unlock()
				var e *bridge.Error
				if errors.As(err, &e) && e.Code == bridge.CodeRateLimited && e.RetryAfter > 0 {
					refused++
				}
			})
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		all.Go(func() {
			time.Sleep(time.Millisecond)
			if err := r.alone(gone, func() error { return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("of a caller who has left: %v", err)
			}
		})
		all.Wait()
		if most != 1 || ended < 5 || ended > 6 || ended+refused != 64 {
			t.Errorf("%d at once, %d rendered and %d refused", most, ended, refused)
		}
	})
}

// Whatever one token tree renders, another waits for one rendering of it at most: trees take
// turns, all hooks of BRIDGE_TOKEN are one, and BRIDGE_TOKEN is next.
func TestRenderer_FamiliesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRenderer()
		var mu sync.Mutex
		var order []int64
		refused := make(map[int64]int)
		var all sync.WaitGroup
		ask := func(tree int64) {
			all.Go(func() {
				err := r.alone(bridge.WithTree(t.Context(), tree), func() error {
					mu.Lock()
					order = append(order, tree)
					mu.Unlock()
					time.Sleep(100 * time.Millisecond)
					return nil
				})
				mu.Lock()
				defer mu.Unlock()
				var e *bridge.Error
				if errors.As(err, &e) && e.Code == bridge.CodeRateLimited && e.RetryAfter > 0 {
					refused[tree]++
				}
			})
			synctest.Wait()
		}
		for range 60 {
			ask(7)
		}
		if refused[7] != 56 {
			t.Errorf("%d of 60 were refused at once, want 56", refused[7])
		}
		for hook := range int64(4) {
			for range 5 {
				ask(-1 - hook)
			}
		}
		ask(-5)
		ask(intake.Operator)
		ask(8)
		ask(9)
		if refused[-1] != 1 || refused[-4] != 1 || refused[-5] != 1 || refused[intake.Operator] != 0 || refused[8]+refused[9] != 0 {
			t.Errorf("refused %v", refused)
		}
		time.Sleep(250 * time.Millisecond) // the first one of the hooks runs
		ask(7)
		all.Wait()
		if want := []int64{7, 0, -1, 8, 9, 7, -1, 7, -1, 7, -1, 7, -2, -2, -2, -2, -3, -3, -3, -3, -4, -4, -4, -4}; !slices.Equal(order, want) {
			t.Errorf("rendered in the order %v, want %v", order, want)
		}
	})
}

// A rendering is its caller's, and the room of those that gave up is free again.
func TestRenderer_RendersForItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRenderer()
		template, err := Parse("{{.payload}}")
		if err != nil {
			t.Fatal(err)
		}
		render := func(tree int64) error {
			_, err := r.Render(bridge.WithTree(t.Context(), tree), template, "hi", nil)
			return err
		}
		stays := make(chan struct{})
		for range treeRenderings {
			go func() { _ = r.alone(bridge.WithTree(t.Context(), 7), func() error { <-stays; return nil }) }()
		}
		synctest.Wait()
		start := time.Now()
		if err := render(7); bridge.CodeOf(err) != bridge.CodeRateLimited || time.Since(start) != 0 {
			t.Errorf("of the same tree: %v after %v", err, time.Since(start))
		}
		for range 2 {
			start = time.Now()
			if err := render(8); bridge.CodeOf(err) != bridge.CodeRateLimited || time.Since(start) != renderWait {
				t.Errorf("of another, behind one that stays: %v after %v", err, time.Since(start))
			}
		}
		close(stays)
		synctest.Wait()
		for _, tree := range []int64{7, 8} {
			if err := render(tree); err != nil {
				t.Errorf("tree %d: %v", tree, err)
			}
		}
	})
}
