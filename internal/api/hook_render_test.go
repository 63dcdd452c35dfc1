package api

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
)

// However many templates are rendered, they take one processor: those that wait for
// too long are refused, and those whose callers leave do not begin.
func TestRenderer_RendersOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRenderer(time.Now)
		var mu sync.Mutex
		running, most, ended, refused := 0, 0, 0, 0
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				err := r.alone(t.Context(), func() error {
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
