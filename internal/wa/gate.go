package wa

import "sync"

// gate lets many in until it is shut, which waits for those inside. whatsmeow
// has goroutines that nobody waits for, and a handler may be in one of them.
type gate struct {
	mu     sync.RWMutex
	closed bool // guarded by mu
}

// enter returns false once the gate is shut; else leave must follow.
func (g *gate) enter() bool {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return false
	}
	return true
}

func (g *gate) leave() { g.mu.RUnlock() }

// shut lets nobody in any more and waits for those inside.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
