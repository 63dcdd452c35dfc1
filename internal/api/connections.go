package api

import (
	queue "container/list"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// Connections bounds the connections that are open at once, in two parts: those
// of strangers, and those on which the token has been seen. Neither part takes
// places of the other, so strangers cut off no stream of events, and streams
// leave room for /healthz.
//
// When a part is full, the connection that has waited longest makes room: for
// its next request, for the rest of a head (an honest one comes in one piece),
// or for the end of a body that is not read. If none waits, a stranger that has
// been answered for too long does. Otherwise the new connection is refused.
type Connections struct {
	mu        sync.Mutex // guards all below and the states of the connections
	strangers part
	known     part
}

// part counts and orders one part of the connections.
type part struct {
	limit     int
	open      int
	waiting   queue.List // of *conn, the longest waiting first
	answered  queue.List // of *conn, the longest answered first
	refused   int
	displaced int
}

const (
	// MinConnections is the smallest limit that leaves both parts useful.
	MinConnections = 16
	// mostStrangers bounds the places of strangers, who have a quarter of all.
	mostStrangers = 1024
	// answerPatience is how long a stranger's answer may take while others wait
	// for a place. The routes that are open to strangers take milliseconds.
	answerPatience = 2 * time.Second
	// refusalTime bounds the writing of a refusal.
	refusalTime = 100 * time.Millisecond
)

// NewConnections returns a bound of limit connections in all.
func NewConnections(limit int) *Connections {
	c := new(Connections)
	c.strangers.limit = min(limit/4, mostStrangers)
	c.known.limit = limit - c.strangers.limit
	return c
}

// Listen returns a listener whose connections are counted.
func (c *Connections) Listen(inner net.Listener) net.Listener { return &boundListener{inner, c} }

type boundListener struct {
	net.Listener
	connections *Connections
}

// Accept returns the next connection that gets a place, and refuses the others.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn := l.connections.admit(inner); conn != nil {
			return conn, nil
		}
		refuse(inner)
	}
}

var refusal = plainAnswer(http.StatusServiceUnavailable, bridge.CodeTooManyConnections,
	"too many connections are open; close some, or raise MAX_CONNECTIONS", "Retry-After: 1")

// refuse closes a new connection with an answer that says why.
func refuse(conn net.Conn) {
	if conn.SetWriteDeadline(time.Now().Add(refusalTime)) == nil {
		_, _ = conn.Write(refusal)
	}
	_ = conn.Close()
}

// admit gives a new connection a place among the strangers, or returns nil.
func (c *Connections) admit(inner net.Conn) *conn {
	c.mu.Lock()
	displaced, ok := c.makeRoom(&c.strangers, answerPatience)
	var admitted *conn
	if ok {
		admitted = &conn{Conn: inner, pool: c, part: &c.strangers, inHead: true}
		c.strangers.open++
		admitted.join(&c.strangers.waiting)
	}
	c.mu.Unlock()
	displaced.close()
	return admitted
}

// never is a patience that no answer exhausts.
const never = time.Duration(math.MaxInt64)

// makeRoom reports whether a part has room for one more connection, and returns
// the connection that was displaced for it, if any, for the caller to close.
// Connections that have been answered for less than patience stay.
func (c *Connections) makeRoom(p *part, patience time.Duration) (displaced *conn, ok bool) {
	if p.open < p.limit {
		return nil, true
	}
	oldest := p.waiting.Front()
	if oldest == nil {
		oldest = p.answered.Front()
		if oldest == nil || time.Since(oldest.Value.(*conn).since) <= patience {
			p.refused++
			return nil, false
		}
	}
	displaced = oldest.Value.(*conn)
	displaced.leave()
	p.displaced++
	return displaced, true
}

// state notes that a connection is read from, answered or closed; see
// [http.Server.ConnState].
func (c *Connections) state(inner net.Conn, state http.ConnState) {
	conn, ours := inner.(*conn)
	if !ours {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case conn.gone:
	case state == http.StateActive:
		conn.join(&conn.part.answered)
	case state == http.StateIdle && conn.head.encodings > 0:
		// Whatever its handler answered: net/http has read what came behind the
		// chunks, unchecked, and whileOpen drops it.
		conn.leave()
		conn.close()
	case state == http.StateIdle:
		conn.inHead, conn.head, conn.body = true, head{}, 0
		conn.join(&conn.part.waiting)
	case state == http.StateClosed, state == http.StateHijacked:
		conn.leave()
	}
}

// know moves a connection on which the token has been seen to the other part.
func (c *Connections) know(conn *conn) error {
	c.mu.Lock()
	if conn.gone || conn.part == &c.known {
		c.mu.Unlock()
		return nil
	}
	displaced, ok := c.makeRoom(&c.known, never)
	if ok {
		conn.part.open--
		conn.part = &c.known
		conn.part.open++
		conn.join(&conn.part.answered)
	}
	c.mu.Unlock()
	displaced.close()
	if !ok {
		return &bridge.Error{
			Code: bridge.CodeTooManyConnections, RetryAfter: 5 * time.Second,
			Msg: "too many connections with the token are open; close some, or raise MAX_CONNECTIONS",
		}
	}
	return nil
}

// conn is a counted connection.
type conn struct {
	net.Conn
	pool *Connections

	// Guarded by the pool's mu.
	part  *part
	list  *queue.List // waiting or answered, of part
	at    *queue.Element
	since time.Time
	gone  bool // it has lost its place

	// Of the one goroutine that reads.
	inHead bool
	head   head
	body   int64  // bytes of a body that are still to come, where its length is known
	rest   []byte // read already, but behind the head
}

// join moves a connection to the end of a list.
func (c *conn) join(to *queue.List) {
	if c.list != nil {
		c.list.Remove(c.at)
	}
	c.list, c.at, c.since = to, to.PushBack(c), time.Now()
}

// leave gives up the place of a connection.
func (c *conn) leave() {
	if c.list != nil {
		c.list.Remove(c.at)
		c.list = nil
	}
	c.part.open--
	c.gone = true
}

// close closes a displaced connection, if there is one.
func (c *conn) close() {
	if c != nil {
		_ = c.Conn.Close() // its reader gets the error
	}
}
