package front

import (
	queue "container/list"
	"net"
	"net/http"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

// Connections limits the open connections, in two parts: unauthenticated clients, and known callers,
// who have shown a token, a session of the console or the address of a hook. Every connection starts
// as unauthenticated, and its caller is identified with each request, before the request is handled.
//
// Unauthenticated connections that wait for input are evicted for new ones, the longest waiting
// first, and at most half of them are answered at the same time, so a caller can always show a token.
//
// Token trees of known callers have quotas (see [intake.Divide]). If there is no slot, a connection
// that waits for its next request is evicted, otherwise a stream or long poll of events of the tree
// with the most connections, because its client can continue. Otherwise the request is refused.
type Connections struct {
	// callers identifies the token tree of a request. If it is nil, all are unauthenticated.
	callers func(*http.Request) (tree int64, known bool)
	// freed has a value after a slot for unauthenticated connections has become free.
	freed chan struct{}

	mu              sync.Mutex // guards the other fields and the states of the connections
	unauthenticated part
	known           part
	quotas          intake.Quotas // of the slots of known callers
	others          int64         // the part of known.open that the operator's tree does not use
	trees           map[int64]*group
}

type part struct {
	group // only of unauthenticated connections; the known ones are in trees

	limit   int
	refused int
	evicted int
}

// group has the connections of a token tree, or the unauthenticated ones.
type group struct {
	tree    int64
	open    int
	waiting queue.List // of *conn, the longest waiting first
	// evictable has the other connections that may be evicted, the oldest first: unauthenticated ones
	// that are being answered, or streams of known callers.
	evictable queue.List
}

const (
	// MinConnections is the smallest limit with which both parts are useful.
	MinConnections = 16
	// maxUnauthenticated limits the slots for unauthenticated connections, otherwise a quarter of all.
	maxUnauthenticated = 1024
	// unauthenticatedTimeout limits how long an unauthenticated request is answered while others wait
	// for a slot. The routes without authentication take milliseconds.
	unauthenticatedTimeout = 2 * time.Second
	// grace is how long a new connection is not evicted, so that it can send its first request.
	grace = 20 * time.Millisecond
)

// NewConnections returns a limit of all open connections together.
func NewConnections(limit int) *Connections {
	c := &Connections{trees: make(map[int64]*group), freed: make(chan struct{}, 1)}
	c.unauthenticated.limit = min(limit/4, maxUnauthenticated)
	c.known.limit = limit - c.unauthenticated.limit
	c.quotas = intake.Divide(int64(c.known.limit))
	return c
}

// Identify sets the function that identifies callers, before the first request.
func (c *Connections) Identify(callers func(*http.Request) (tree int64, known bool)) {
	c.callers = callers
}

// Listen returns a listener whose connections are counted.
func (c *Connections) Listen(inner net.Listener) net.Listener { return &boundListener{inner, c} }

type boundListener struct {
	net.Listener
	connections *Connections
}

// Accept returns the next connection when there is a slot for an unauthenticated one. The others wait
// in the system's queue.
func (l *boundListener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for wait := l.connections.slotDelay(); wait > 0; wait = l.connections.slotDelay() {
		timer := time.NewTimer(wait)
		select {
		case <-l.connections.freed:
		case <-timer.C:
		}
		timer.Stop()
	}
	return l.connections.admit(inner), nil
}

// slotDelay returns how long a new connection waits until another one may be evicted.
func (c *Connections) slotDelay() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unauthenticated.open < c.unauthenticated.limit {
		return 0
	}
	return grace - time.Since(first(&c.unauthenticated.waiting).since)
}

// admit adds a new connection as unauthenticated.
func (c *Connections) admit(inner net.Conn) *conn {
	admitted := &conn{Conn: inner, pool: c, inHead: true}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freeUnauthenticated()
	c.add(admitted, &c.unauthenticated.group)
	admitted.join(&c.unauthenticated.waiting)
	return admitted
}

// state is called when the state of a connection changes; see [http.Server.ConnState].
func (c *Connections) state(inner net.Conn, state http.ConnState) {
	conn, ours := inner.(*conn)
	if !ours {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case conn.gone:
	case state == http.StateActive: // it has sent a head, and its caller is not identified yet
		conn.join(&conn.group.waiting)
	case state == http.StateIdle && conn.head.encodings > 0:
		// net/http has read unchecked bytes after the chunks.
		conn.leave()
		_ = conn.Conn.Close()
	case state == http.StateIdle:
		conn.inHead, conn.head, conn.body = true, head{}, 0
		conn.join(&conn.group.waiting)
	case state == http.StateClosed, state == http.StateHijacked:
		conn.leave()
	}
}

// add counts a connection in a group. The caller holds mu.
func (c *Connections) add(conn *conn, g *group) {
	conn.group = g
	g.open++
	if g == &c.unauthenticated.group {
		return
	}
	c.known.open++
	if g.tree != intake.Operator {
		c.others++
	}
}

// remove ends the counting of a connection in its group. The caller holds mu.
func (c *Connections) remove(conn *conn) {
	conn.leaveList()
	g := conn.group
	g.open--
	if g == &c.unauthenticated.group {
		bridge.Wake(c.freed)
		return
	}
	c.known.open--
	if g.tree != intake.Operator {
		c.others--
	}
	if g.open == 0 {
		delete(c.trees, g.tree)
	}
}

// conn is a counted connection.
type conn struct {
	net.Conn
	pool *Connections

	// Guarded by the pool's mu.
	group *group
	list  *queue.List // of group; nil while a known caller's request is answered
	at    *queue.Element
	since time.Time
	gone  bool // whether its slot was released

	// Only for the goroutine that reads.
	inHead bool
	head   head
	body   int64  // bytes of a body that were not received yet, if its length is known
	rest   []byte // bytes after the head that were read already
}

func (c *conn) join(to *queue.List) {
	c.leaveList()
	c.list, c.at, c.since = to, to.PushBack(c), time.Now()
}

// leaveList removes a connection from its list, so that it is not evicted.
func (c *conn) leaveList() {
	if c.list != nil {
		c.list.Remove(c.at)
		c.list = nil
	}
}

func (c *conn) leave() {
	c.pool.remove(c)
	c.gone = true
}
