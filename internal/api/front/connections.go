package front

import (
	queue "container/list"
	"net"
	"net/http"
	"sync"
	"time"

	"bridged/internal/intake"
)

// Connections bounds the open connections, in two separate parts: those of strangers, and
// those of known callers, who have shown a token, a session of the console or the address
// of a hook. Every connection begins as a stranger's and is identified with each request,
// before anything is done for it.
//
// Strangers' connections that wait for input make room for new ones, the longest waiting
// first, and at most half of the strangers are answered at once, so that a caller can
// always show a token.
//
// Known callers have shares, by [bridge.Token]'s Family; see [intake.Divide]. Connections
// that wait for their next request make room, and then streams of events and waits for one,
// which can be continued: those of the family that has the most. Others are refused.
type Connections struct {
	// callers identifies the family of a request; nil knows none.
	callers func(*http.Request) (family int64, known bool)
	// freed has a value once a stranger's place is free.
	freed chan struct{}

	mu        sync.Mutex // guards all below and the states of the connections
	strangers part
	known     part
	shares    intake.Quotas // of the places of known callers
	others    int64         // of known.open, those that are not the operator's
	families  map[int64]*group
}

type part struct {
	group // of the strangers alone; the known ones are in families

	limit     int
	refused   int
	displaced int
}

// group orders some connections.
type group struct {
	family  int64
	open    int
	waiting queue.List // of *conn, the longest waiting first
	// kept lists the connections that make room in need, the oldest first: of strangers those
	// that are answered, of known callers the streams.
	kept queue.List
}

const (
	// MinConnections is the smallest limit that leaves both parts useful.
	MinConnections = 16
	// mostStrangers bounds the places of strangers, who have a quarter of all.
	mostStrangers = 1024
	// answerPatience limits the time of a stranger's answer while others wait for a
	// place. The routes for strangers take milliseconds.
	answerPatience = 2 * time.Second
	// grace gives a new connection time for its first request in any case.
	grace = 20 * time.Millisecond
)

// NewConnections returns a bound of limit connections in all.
func NewConnections(limit int) *Connections {
	c := &Connections{families: make(map[int64]*group), freed: make(chan struct{}, 1)}
	c.strangers.limit = min(limit/4, mostStrangers)
	c.known.limit = limit - c.strangers.limit
	c.shares = intake.Divide(int64(c.known.limit))
	return c
}

// Identify sets the function that identifies callers, before the first request.
func (c *Connections) Identify(callers func(*http.Request) (family int64, known bool)) {
	c.callers = callers
}

// Listen returns a listener whose connections are counted.
func (c *Connections) Listen(inner net.Listener) net.Listener { return &boundListener{inner, c} }

type boundListener struct {
	net.Listener
	connections *Connections
}

// Accept returns the next connection once there is a place among the strangers. Others wait
// in the system's queue.
func (l *boundListener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for wait := l.connections.untilRoom(); wait > 0; wait = l.connections.untilRoom() {
		timer := time.NewTimer(wait)
		select {
		case <-l.connections.freed:
		case <-timer.C:
		}
		timer.Stop()
	}
	return l.connections.admit(inner), nil
}

// untilRoom returns how long a new connection has to wait for the grace of another one.
func (c *Connections) untilRoom() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.strangers.open < c.strangers.limit {
		return 0
	}
	return grace - time.Since(first(&c.strangers.waiting).since)
}

// admit gives a new connection a place among the strangers.
func (c *Connections) admit(inner net.Conn) *conn {
	admitted := &conn{Conn: inner, pool: c, inHead: true}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.makeRoomAmongStrangers()
	c.enter(admitted, &c.strangers.group)
	admitted.join(&c.strangers.waiting)
	return admitted
}

// state notes that a connection is read from, idle or closed; see
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
	case state == http.StateActive: // it has sent a head, and waits until it is seen whose that is
		conn.join(&conn.group.waiting)
	case state == http.StateIdle && conn.head.encodings > 0:
		// net/http has read unchecked bytes after the chunks, which placed drops.
		conn.leave()
		_ = conn.Conn.Close()
	case state == http.StateIdle:
		conn.inHead, conn.head, conn.body = true, head{}, 0
		conn.join(&conn.group.waiting)
	case state == http.StateClosed, state == http.StateHijacked:
		conn.leave()
	}
}

// enter counts a connection in a group. The caller holds mu, as for all below.
func (c *Connections) enter(conn *conn, g *group) {
	conn.group = g
	g.open++
	if g == &c.strangers.group {
		return
	}
	c.known.open++
	if g.family != intake.Operator {
		c.others++
	}
}

func (c *Connections) take(conn *conn) {
	conn.leaveList()
	g := conn.group
	g.open--
	if g == &c.strangers.group {
		select {
		case c.freed <- struct{}{}:
		default:
		}
		return
	}
	c.known.open--
	if g.family != intake.Operator {
		c.others--
	}
	if g.open == 0 {
		delete(c.families, g.family)
	}
}

// conn is a counted connection.
type conn struct {
	net.Conn
	pool *Connections

	// Guarded by the pool's mu.
	group *group
	list  *queue.List // of group; nil while a known caller is answered
	at    *queue.Element
	since time.Time
	gone  bool // it has lost its place

	// Of the one goroutine that reads.
	inHead bool
	head   head
	body   int64  // bytes of a body that are still to come, where its length is known
	rest   []byte // read already, but after the head
}

func (c *conn) join(to *queue.List) {
	c.leaveList()
	c.list, c.at, c.since = to, to.PushBack(c), time.Now()
}

// leaveList takes a connection out of its list, so that it makes no room.
func (c *conn) leaveList() {
	if c.list != nil {
		c.list.Remove(c.at)
		c.list = nil
	}
}

func (c *conn) leave() {
	c.pool.take(c)
	c.gone = true
}
