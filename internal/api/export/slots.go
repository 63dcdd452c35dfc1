package export

import (
	"context"
	"errors"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// running limits the exports that are being answered: one of each token tree, two of all, and a third one of BRIDGE_TOKEN.
var running = intake.Quotas{All: 3, Others: 2, Each: 1}

const (
	maxWait = 10 * time.Second // for a slot
	// maxRun limits an export, so that slow readers do not hold the slots. It does not apply to BRIDGE_TOKEN.
	maxRun = time.Hour
)

// Slots limits the exports that run at a time, and their length.
type Slots struct{ quota *intake.Quota }

// NewSlots returns slots that are all free.
func NewSlots() Slots { return Slots{intake.NewQuota(running, maxWait, 0)} }

// Take waits a moment for a slot of a token tree. It returns the context of the export; the caller must call leave to release the
// slot. It fails with the error of ctx or with [bridge.CodeTooManyConnections].
func (s Slots) Take(ctx context.Context, tree int64) (run context.Context, leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	slot, err := s.quota.Take(waiting, tree, 1, func() {})
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			busy := bridge.Fail(bridge.CodeTooManyConnections, "other chats are still being exported: try again later")
			busy.RetryAfter = time.Minute
			err = busy
		}
		return nil, nil, err
	}
	slot.Complete() // it is never cancelled for others
	end := context.CancelFunc(func() {})
	if run = ctx; tree != intake.Operator {
		run, end = context.WithTimeout(ctx, maxRun)
	}
	return run, func() {
		end()
		slot.Release()
	}, nil
}
