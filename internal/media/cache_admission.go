package media

import (
	"context"
	"slices"
	"time"

	"bridged/internal/bridge"
)

const (
	// maxDownloads limits the downloads at a time; the others wait.
	maxDownloads = 8
	// downloadsOfDisk limits the disk that is used beyond the cache, in files of the
	// largest size: downloads in progress, and files being read.
	downloadsOfDisk = 2
	// admissionPatience limits how long a download waits for its turn.
	admissionPatience = 2 * time.Minute
	// busyRetry is the Retry-After for a caller whose download had no turn.
	busyRetry = 10 * time.Second
)

// admission decides which downloads may begin, first come, first served. It bounds
// their number, and the bytes that they and open files take beyond the cache's limit.
type admission struct {
	patience time.Duration

	running  int
	reserved int64     // bytes of the running ones
	waiting  []*ticket // the longest waiting first
}

// ticket is a download's place in the queue.
type ticket struct {
	size     int64
	admitted chan struct{} // closed when it may begin
}

// room returns how many more bytes may be downloaded now. The caller holds mu.
func (c *Cache) room() int64 {
	return downloadsOfDisk*encryptedSize(c.maxFile) - c.lru.excess() - c.reserved
}

// expectedSize returns the disk space to reserve for a download.
func (c *Cache) expectedSize(m *bridge.Media) int64 {
	size, _ := c.limit(m)
	return size
}

// admit waits until a download of that size may begin.
func (c *Cache) admit(ctx context.Context, size int64) (*ticket, error) {
	t := &ticket{size: size, admitted: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, t)
	c.admitNext()
	c.mu.Unlock()
	patience := time.NewTimer(c.patience)
	defer patience.Stop()
	select {
	case <-t.admitted:
		return t, nil
	case <-ctx.Done():
		c.withdraw(t)
		return nil, ctx.Err()
	case <-patience.C:
		c.withdraw(t)
		e := bridge.Fail(bridge.CodeMediaUnavailable, "too many other files are being downloaded: try again later")
		e.RetryAfter = busyRetry
		return nil, e
	}
}

// withdraw takes a download out of the queue, or gives up the turn that it was just
// given.
func (c *Cache) withdraw(t *ticket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, t); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		c.admitNext() // the next one may be smaller
		return
	}
	c.ended(t)
}

// admitNext starts the waiting downloads that fit. The caller holds mu.
func (c *Cache) admitNext() {
	for len(c.waiting) > 0 {
		next := c.waiting[0]
		if c.running == maxDownloads || next.size > c.room() {
			return
		}
		c.waiting = c.waiting[1:]
		c.running++
		c.reserved += next.size
		close(next.admitted)
	}
}

// endTurn gives up a download's turn.
func (c *Cache) endTurn(f *download) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended(f.begun)
	f.begun = nil
}

// ended passes the turn of a download to the next. The caller holds mu.
func (c *Cache) ended(t *ticket) {
	if t == nil {
		return
	}
	c.running--
	c.reserved -= t.size
	c.admitNext()
}

// makeRoom removes cached files that nobody reads, the least recently used first,
// until that many bytes of a full disk are free. It is a [room].
func (c *Cache) makeRoom(size int64) bool {
	c.mu.Lock()
	removed := c.lru.shrink(c.lru.total - size)
	c.mu.Unlock()
	if removed == 0 {
		return false
	}
	c.log.Warn().Int64("bytes", removed).Msg("the disk is full: cached media removed")
	return true
}
