package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"bridged/internal/bridge"
)

// eventCache shares readings of the log. All its readers, streams first of all,
// wake at the same commit, and most ask for the same part: the first one reads it
// for all. The next commit empties the cache, because what events show may have
// changed.
type eventCache struct {
	mu    sync.Mutex // guards pages and size
	pages map[string]*cachedEvents
	size  int // of all pages, in bytes of JSON
}

// cachedEvents is a page that is being read, or was read.
type cachedEvents struct {
	read chan struct{} // closed when page and err are set
	page EventPage
	err  error
}

// The cache is bounded between two commits: readers that catch up each ask for
// something else.
const (
	maxCachedPages = 64
	maxCachedBytes = 2 * bridge.PageBytes
)

// get returns a page of the log, and reads it with f unless another reader has.
func (c *eventCache) get(ctx context.Context, q EventQuery, f func() (EventPage, error)) (EventPage, error) {
	key := q.key()
	c.mu.Lock()
	known, ok := c.pages[key]
	if !ok && len(c.pages) >= maxCachedPages {
		c.mu.Unlock()
		return f()
	}
	if !ok {
		return c.readFor(key, f)
	}
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return EventPage{}, ctx.Err()
	case <-known.read:
	}
	if known.err != nil { // perhaps only its reader's caller went away
		return f()
	}
	return known.page, nil
}

// key returns a text that only the same queries have.
func (q EventQuery) key() string {
	fromMe := "any"
	if q.FromMe != nil {
		fromMe = fmt.Sprint(*q.FromMe)
	}
	return fmt.Sprintf("%d %d %d %v %v %v %s %s %t %v", q.After, q.Limit, q.Bytes, q.Types, q.Chats, q.ExcludeChats, q.ChatType, fromMe, q.Only == nil, q.Only)
}

// readFor reads a page for everybody who asks for it meanwhile. It is called
// with the lock held and releases it.
func (c *eventCache) readFor(key string, f func() (EventPage, error)) (EventPage, error) {
	mine := &cachedEvents{read: make(chan struct{}), err: errUnfinished}
	c.pages[key] = mine
	c.mu.Unlock()
	defer close(mine.read)
	mine.page, mine.err = f()
	c.keep(key, mine)
	return mine.page, mine.err
}

// keep has others find a page that was read, unless all of them are too large by
// now. Those who wait for it already get it in any case.
func (c *eventCache) keep(key string, mine *cachedEvents) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages[key] != mine { // emptied meanwhile
		return
	}
	if c.size+mine.page.size > maxCachedBytes {
		delete(c.pages, key)
		return
	}
	c.size += mine.page.size
}

// errUnfinished is what others see of a reader that panicked.
var errUnfinished = errors.New("reading ended early")

func (c *eventCache) empty() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages, c.size = make(map[string]*cachedEvents), 0
}
