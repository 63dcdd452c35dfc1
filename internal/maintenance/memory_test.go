package maintenance

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// TestIdleMemory_IsGivenBackAfterWork, once, and not while there is work.
func TestIdleMemory_IsGivenBackAfterWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var allocated atomic.Uint64
		var released atomic.Int32
		var log bytes.Buffer
		m := idleMemory{allocated.Load, func(context.Context) error {
			released.Add(1)
			allocated.Add(workedBytes) // that is no work
			return errors.New("database is locked")
		}, zerolog.New(&log)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); m.watch(ctx) }()
		time.Sleep(memoryPause / 2) // between two looks
		for range 30 {              // work, and the pause in which it ends
			allocated.Add(workedBytes)
			time.Sleep(memoryPause)
		}
		if synctest.Wait(); released.Load() != 0 {
			t.Errorf("released %d times during work", released.Load())
		}
		time.Sleep(memoryPause)
		if synctest.Wait(); released.Load() != 1 {
			t.Errorf("released %d times after work, want 1", released.Load())
		}
		for range 10 { // what an idle bridge needs
			allocated.Add(quietBytes / 4)
			time.Sleep(memoryPause)
		}
		if synctest.Wait(); released.Load() != 1 {
			t.Errorf("released %d times in the quiet after, want 1", released.Load())
		}
		allocated.Add(workedBytes)
		time.Sleep(2 * memoryPause)
		if synctest.Wait(); released.Load() != 2 {
			t.Errorf("released %d times after more work, want 2", released.Load())
		}
		cancel()
		<-done
		if !strings.Contains(log.String(), "database is locked") {
			t.Errorf("the log is silent about a failure:\n%s", &log)
		}
	})
}

func TestAllocatedBytes_CountsWhatIsAllocated(t *testing.T) {
	before := allocatedBytes()
	work := make([]byte, workedBytes)
	if after := allocatedBytes(); after-before < uint64(len(work)) {
		t.Errorf("%d bytes counted, at least %d allocated", after-before, len(work))
	}
}
