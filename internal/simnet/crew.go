package simnet

import "sync"

// crew is the goroutines that a network or a phone has to wait for when it ends. None can begin once that has begun.
type crew struct {
	// mu guards ended, and that nobody joins after it.
	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// join counts the caller in; it says no when the end has begun. Who has joined must leave.
func (c *crew) join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.group.Add(1)
	}
	return !c.ended
}

func (c *crew) leave() { c.group.Done() }

// start runs f on a goroutine of the crew, unless the end has begun.
func (c *crew) start(f func()) {
	if !c.join() {
		return
	}
	go func() {
		defer c.leave()
		f()
	}()
}

// end waits until everybody has left.
func (c *crew) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.group.Wait()
}
