package session

import (
	"context"
	"sync"
	"time"
)

// clearedContent gathers the hashes of stored stanzas whose decrypted content whatsmeow
// clears from its buffer, with a durable commit before each acknowledgement. It is part
// of the next decryption's transaction instead, or of its own after clearPause and at
// the client's end. Content that a kill leaves does no harm: a stanza that comes again
// is saved again, which changes nothing.
type clearedContent struct {
	flush func() // clears what waits

	mu      sync.Mutex // guards what follows
	hashes  [][32]byte
	timer   *time.Timer
	flushes sync.WaitGroup
	ended   bool
}

// Content is cleared clearPause after the last message was stored, and clearRetry after
// a failure.
const (
	clearPause = time.Second
	clearRetry = 10 * time.Second
)

// add notes a hash. It returns false after the client's end: the caller clears it.
func (c *clearedContent) add(hash [32]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.hashes = append(c.hashes, hash)
	c.flushAfter(clearPause)
	return true
}

// flushAfter flushes after a pause, unless something is added. The caller holds mu.
func (c *clearedContent) flushAfter(pause time.Duration) {
	if c.timer == nil {
		c.timer = time.AfterFunc(pause, c.onPause)
	} else {
		c.timer.Reset(pause)
	}
}

// onPause flushes after a pause.
func (c *clearedContent) onPause() {
	c.mu.Lock()
	due := !c.ended && len(c.hashes) > 0
	if due {
		c.flushes.Add(1)
	}
	c.mu.Unlock()
	if due {
		defer c.flushes.Done()
		c.flush()
	}
}

// take returns what waits.
func (c *clearedContent) take() [][32]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	hashes := c.hashes
	c.hashes = nil
	return hashes
}

// restore gives back hashes that could not be cleared.
func (c *clearedContent) restore(hashes [][32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashes = append(hashes, c.hashes...)
	if !c.ended && len(c.hashes) > 0 {
		c.flushAfter(clearRetry)
	}
}

// end flushes for the last time.
func (c *clearedContent) end() {
	c.mu.Lock()
	c.ended = true
	if c.timer != nil {
		c.timer.Stop()
	}
	due := len(c.hashes) > 0
	c.mu.Unlock()
	c.flushes.Wait()
	if due {
		c.flush()
	}
}

// ClearBufferedEventPlaintext leaves clearing to the next transaction.
func (s *lockedStore) ClearBufferedEventPlaintext(ctx context.Context, hash [32]byte) error {
	if s.cleared.add(hash) {
		return nil
	}
	return s.EventBuffer.ClearBufferedEventPlaintext(ctx, hash)
}

// flushTimeout bounds a flush: a stop has no more time.
const flushTimeout = 2 * time.Second

// flush clears what waits in a transaction of its own.
func (s *lockedStore) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := s.transact(ctx, func(context.Context) error { return nil }); err != nil {
		s.log.Warn().Err(err).Msg("content of stored messages not cleared from the session database yet")
	}
}

// transactClearing runs fn within a transaction that also clears what waits.
func (s *lockedStore) transactClearing(ctx context.Context, fn func(context.Context) error) error {
	hashes := s.cleared.take()
	err := s.EventBuffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		for _, hash := range hashes {
			if err := s.EventBuffer.ClearBufferedEventPlaintext(ctx, hash); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.cleared.restore(hashes)
	}
	return err
}
