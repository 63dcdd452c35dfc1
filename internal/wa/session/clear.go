package session

import (
	"context"
	"sync"
	"time"
)

// clearedContent collects the hashes of stored stanzas whose decrypted content must be cleared
// from whatsmeow's buffer. whatsmeow does that with a durable commit before each acknowledgement.
// Here it is part of the next decryption's transaction, or has its own after clearPause and when
// the client ends. Content that is left after a kill does no harm: if the stanza is received
// again, storing it changes nothing.
type clearedContent struct {
	mu     sync.Mutex // guards the fields from here on
	hashes [][32]byte
	timer  *time.Timer // flushes
	ended  bool
}

// Content is cleared clearPause after the last message was stored, or clearRetry after a failure.
const (
	clearPause = time.Second
	clearRetry = 10 * time.Second
)

// take returns the waiting hashes and removes them.
func (c *clearedContent) take() [][32]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	hashes := c.hashes
	c.hashes = nil
	return hashes
}

// restore puts back hashes that could not be cleared.
func (c *clearedContent) restore(hashes [][32]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashes = append(hashes, c.hashes...)
	if !c.ended && len(c.hashes) > 0 {
		c.timer.Reset(clearRetry)
	}
}

// ClearBufferedEventPlaintext postpones the clearing to the next transaction. After end it clears
// at once.
func (s *lockedStore) ClearBufferedEventPlaintext(ctx context.Context, hash [32]byte) error {
	c := &s.cleared
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return s.EventBuffer.ClearBufferedEventPlaintext(ctx, hash)
	}
	c.hashes = append(c.hashes, hash)
	c.timer.Reset(clearPause)
	return nil
}

// flushTimeout limits a flush, because a stopping program has no more time.
const flushTimeout = 2 * time.Second

// isWaiting reports whether there is content to clear.
func (c *clearedContent) isWaiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.hashes) > 0
}

// flush clears the waiting content in its own transaction.
func (s *lockedStore) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := s.transact(ctx, nil); err != nil && s.cleared.isWaiting() {
		s.log.Warn().Err(err).Msg("cannot clear content of stored messages from the session database; trying again")
	}
}

// end flushes for the last time. A running flush holds the lock, and a later flush finds nothing
// to clear.
func (s *lockedStore) end() {
	s.cleared.mu.Lock()
	s.cleared.ended = true
	s.cleared.timer.Stop()
	s.cleared.mu.Unlock()
	s.flush()
}
