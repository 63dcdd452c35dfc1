package maintenance

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/rs/zerolog"
)

// A process holds its memory after a burst of work: Go's heap grows to twice what is in use, and
// each database connection caches the pages it read last. On a machine with a hundred bridges
// most of them are idle, so the memory is given back.
const (
	memoryPause = 2 * time.Second // between two checks
	quietBytes  = 256 << 10       // an idle bridge allocates at most this much in memoryPause
	workedBytes = 4 << 20         // allocations since the last release that make another one worthwhile
)

// idleMemory returns memory to the system when the bridge is idle after work.
type idleMemory struct {
	allocated func() uint64 // total of the process
	release   func(context.Context) error
	log       zerolog.Logger
}

// watch checks every memoryPause until ctx ends.
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
			m.log.Warn().Err(err).Msg("cannot release memory; trying again after the next work")
		}
		debug.FreeOSMemory()
		last = m.allocated() // the release itself allocates
		released = last
	}
}

// allocatedBytes returns the total that the process has allocated on Go's heap.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
