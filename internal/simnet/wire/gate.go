package wire

import (
	"net"
	"sync"
)

// Gate is a listener that can hang up on all clients, like a network that is down.
type Gate struct {
	net.Listener
	// mu guards down and open.
	mu   sync.Mutex
	down bool
	open map[net.Conn]struct{}
}

// NewGate returns an open gate in front of a listener.
func NewGate(l net.Listener) *Gate {
	return &Gate{Listener: l, open: make(map[net.Conn]struct{})}
}

// Accept waits for a connection. It hangs up on those that come while the gate is down.
func (g *Gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if gated := g.admit(c); gated != nil {
			return gated, nil
		}
		_ = c.Close()
	}
}

func (g *Gate) admit(c net.Conn) net.Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.down {
		return nil
	}
	g.open[c] = struct{}{}
	return &gatedConn{Conn: c, gate: g}
}

// SetDown takes the network down, hanging up on all clients, or brings it back.
func (g *Gate) SetDown(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = down
	if down {
		for c := range g.open {
			_ = c.Close()
		}
	}
}

// Refuse turns away new connections and keeps the existing ones.
func (g *Gate) Refuse() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = true
}

// Shut hangs up on all clients and closes the listener.
func (g *Gate) Shut() {
	g.SetDown(true)
	_ = g.Listener.Close()
}

type gatedConn struct {
	net.Conn
	gate *Gate
}

func (c *gatedConn) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.open, c.Conn)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
