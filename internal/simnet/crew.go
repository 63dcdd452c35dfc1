package simnet

import "sync"

// crew keeps track of the goroutines that a network or a phone waits for when it ends. None can start after that.
type crew struct {
	// mu guards ended; nobody joins once that is true.
	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// join counts the caller in, unless the end has begun, and reports whether it did. Every caller that joined must call leave.
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

// end lets nobody join any more, and waits until everybody has left.
func (c *crew) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.group.Wait()
}
