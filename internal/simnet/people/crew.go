package people

import "sync"

// Crew tracks the goroutines that a network or a phone waits for when it ends. No goroutine can start after that.
type Crew struct {
	// mu guards ended, after which Join fails.
	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// Join adds the caller unless the crew has ended, and reports whether it did. Every caller that joined must call Leave.
func (c *Crew) Join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.group.Add(1)
	}
	return !c.ended
}

// Leave undoes a successful Join.
func (c *Crew) Leave() { c.group.Done() }

// Start runs f on a goroutine of the crew unless the crew has ended.
func (c *Crew) Start(f func()) {
	if !c.Join() {
		return
	}
	go func() {
		defer c.Leave()
		f()
	}()
}

// End makes later Joins fail and waits until everyone has left.
func (c *Crew) End() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.group.Wait()
}
