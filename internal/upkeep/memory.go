package upkeep

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/rs/zerolog"
)

// What a burst of work took, a start, searches, pages of a thousand messages,
// stays with the process: Go keeps its heap at twice what is in use, each
// connection to a database the pages that it read last. Where a hundred bridges
// share a machine, most of them are idle most of the time.
const (
	// memoryPause is how long it must have been quiet to give memory back.
	memoryPause = 2 * time.Second
	// quietBytes is what an idle bridge allocates in that time, at most.
	quietBytes = 256 << 10
	// workedBytes is what must have been allocated for it to be worth while.
	workedBytes = 4 << 20
)

// idleMemory gives memory back to the system when the bridge has worked and is
// quiet again.
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
