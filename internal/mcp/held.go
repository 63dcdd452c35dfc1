package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/intake"
)

const (
	// heldAnswers bounds the memory of all answers that are made and sent, in bytes.
	heldAnswers = 24 << 20
	// readBytes is what a call that reads takes: the page of the API that it makes its answer of,
	// or a picture, and that encoded. textBytes is what its answer takes without a picture.
	readBytes = 3 << 20
	textBytes = 512 << 10
	// answerTimeout limits how long a caller takes to read a part of an answer while others wait
	// for its memory.
	answerTimeout = 2 * time.Second
)

// newAnswers returns the quota of the memory of answers, by token trees.
func newAnswers() *intake.Quota { return intake.NewQuota(intake.Divide(heldAnswers), answerTimeout, 1) }

// holding has the memory that the answers of one request over HTTP hold until they are sent.
type holding struct {
	cut func() // ends the writing of the answer

	mu       sync.Mutex
	reserved []*intake.Grant
}

func (h *holding) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.reserved {
		one.Release()
	}
	h.reserved = nil
}

// shrink returns what is held beyond size by each reservation.
func (h *holding) shrink(size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.reserved {
		one.Shrink(size)
	}
}

// write writes a part of the answer. It fails once the memory is needed by others for whom the
// caller has read too slowly.
func (h *holding) write(part func() (int, error)) (n int, err error) {
	h.mu.Lock()
	reserved := slices.Clone(h.reserved)
	h.mu.Unlock()
	for _, one := range reserved {
		one.Await()
		defer one.Whole()
		if one.WasCut() {
			return 0, intake.ErrCut
		}
	}
	return part()
}

// holdingOf returns what a request over HTTP holds, nil of any other.
func holdingOf(extra *sdk.RequestExtra) *holding {
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	held, _ := extra.TokenInfo.Extra[heldKey].(*holding)
	return held
}

// read makes an answer from the API within the memory for answers. A request reads once: one that
// waited for memory while it holds some could wait for itself.
func (c *caller) read(ctx context.Context, extra *sdk.RequestExtra, answer func() (hasPicture bool, err error)) error {
	if err := c.hold(ctx, extra, readBytes); err != nil {
		return err
	}
	hasPicture, err := answer()
	if held := holdingOf(extra); held != nil && !hasPicture {
		held.shrink(textBytes)
	}
	return err
}

// hold waits for the memory of an answer, which is returned when the request has ended.
func (c *caller) hold(ctx context.Context, extra *sdk.RequestExtra, size int64) error {
	held := holdingOf(extra)
	if held == nil {
		return nil
	}
	one, err := c.s.answers.Take(ctx, c.family, size, held.cut)
	if err != nil {
		return err
	}
	one.Whole() // until something is written
	held.mu.Lock()
	defer held.mu.Unlock()
	held.reserved = append(held.reserved, one)
	return nil
}
