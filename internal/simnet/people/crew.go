package people

import "sync"

// Crew keeps track of the goroutines that a network or a phone waits for when it ends. None can start after that.
type Crew struct {
	// mu guards ended; nobody joins once that is true.
	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// Join counts the caller in, unless the end has begun, and reports whether it did. Every caller that joined must call leave.
func (c *Crew) Join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.group.Add(1)
	}
	return !c.ended
}

// Leave ends what Join began.
func (c *Crew) Leave() { c.group.Done() }

// Start runs f on a goroutine of the crew, unless the end has begun.
func (c *Crew) Start(f func()) {
	if !c.Join() {
		return
	}
	go func() {
		defer c.Leave()
		f()
	}()
}

// End lets nobody join any more, and waits until everybody has left.
func (c *Crew) End() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.group.Wait()
}
