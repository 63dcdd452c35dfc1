package mcp

import (
	"context"
	"sync"
	"time"

	"bridged/internal/intake"
)

const (
	// heldAnswers bounds the memory of all answers with files that are made and sent, in bytes.
	heldAnswers = 24 << 20
	// pictureBytes and textBytes are what one answer takes: its content, and that encoded.
	pictureBytes = 3 << 20
	textBytes    = 512 << 10
	// answerPause separates two looks of an answer that waits.
	answerPause = time.Second
)

// newAnswers returns the quota of the memory of answers, by token trees.
func newAnswers() *intake.Quota { return intake.NewQuota(intake.Divide(heldAnswers), answerPause, 0) }

// holding has the memory that the answers of one request over HTTP hold until they are sent.
type holding struct {
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

// hold waits for the memory of an answer, which is given back when the request has ended.
func (c call) hold(ctx context.Context, size int64) error {
	if c.req == nil || c.req.Extra == nil || c.req.Extra.TokenInfo == nil {
		return nil // no request over HTTP
	}
	held, is := c.req.Extra.TokenInfo.Extra[heldKey].(*holding)
	if !is {
		return nil
	}
	one, err := c.s.answers.Take(ctx, c.family, size, func() {})
	if err != nil {
		return err
	}
	one.Whole() // nothing is received, which could be slow
	held.mu.Lock()
	defer held.mu.Unlock()
	held.reserved = append(held.reserved, one)
	return nil
}
