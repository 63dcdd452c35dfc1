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
	mu     sync.Mutex // guards what follows
	hashes [][32]byte
	timer  *time.Timer // flushes
	ended  bool
}

// Content is cleared clearPause after the last message was stored, and clearRetry after
// a failure.
const (
	clearPause = time.Second
	clearRetry = 10 * time.Second
)

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
		c.timer.Reset(clearRetry)
	}
}

// ClearBufferedEventPlaintext leaves clearing to the next transaction, until the client's
// end.
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

// flushTimeout bounds a flush: a stop has no more time.
const flushTimeout = 2 * time.Second

// waits reports whether there is content to clear.
func (c *clearedContent) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.hashes) > 0
}

// flush clears what waits in a transaction of its own.
func (s *lockedStore) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := s.transact(ctx, nil); err != nil && s.cleared.waits() {
		s.log.Warn().Err(err).Msg("content of stored messages not cleared from the session database yet")
	}
}

// end flushes for the last time. A flush under way holds the lock, and one that comes
// later finds nothing.
func (s *lockedStore) end() {
	s.cleared.mu.Lock()
	s.cleared.ended = true
	s.cleared.timer.Stop()
	s.cleared.mu.Unlock()
	s.flush()
}
