package upkeep

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/rs/zerolog"
)

// After a burst of work the process keeps its memory: Go's heap is twice what is in use,
// and connections to a database keep the pages that they read last. Where a hundred bridges
// share a machine, most of them are idle.
const (
	memoryPause = 2 * time.Second // between looks
	quietBytes  = 256 << 10       // an idle bridge allocates in that time, at most
	workedBytes = 4 << 20         // must have been allocated to give memory back
)

// idleMemory gives memory back to the system once the bridge is idle after work.
type idleMemory struct {
	allocated func() uint64 // by the process so far
	release   func(context.Context) error
	log       zerolog.Logger
}

// watch looks every memoryPause, until ctx ends.
func (m idleMemory) watch(ctx context.Context) {
	ticker := time.NewTicker(memoryPause)
	defer ticker.Stop()
	var last, released uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := m.allocated()
		quiet, worked := now-last <= quietBytes, now-released >= workedBytes
		if last = now; !quiet || !worked {
			continue
		}
		if err := m.release(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn().Err(err).Msg("memory not given back; trying again after the next work")
		}
		debug.FreeOSMemory()
		last = m.allocated() // releasing is no work
		released = last
	}
}

// allocatedBytes returns how much the process has ever allocated on Go's heap.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
