package api

import (
	queue "container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bridged/internal/bridge"
)

// Connections bounds the connections that are open at once, in two parts: those
// of strangers, and those on which the token has been seen. Neither part can
// take the other's places, so strangers cut off no stream of events, and streams
// leave room for /healthz.
//
// Where a part is full, the connection makes room on which nothing is done for
// longest: one that waits for its next request, for the rest of a head (an
// honest one comes in one piece) or for the end of a body that nobody reads.
// Where there is none, a stranger is displaced that has been answered for long,
// and else the new connection is refused.
type Connections struct {
	mu        sync.Mutex // guards all below and the states of the connections
	strangers part
	known     part
}

// part is one part of the connections.
type part struct {
	limit     int
	open      int
	waiting   queue.List // of *conn; the longest waiting first
	answered  queue.List // of *conn; the longest answered first
	refused   int
	displaced int
}

const (
	// MinConnections is the smallest number that leaves both parts of use.
	MinConnections = 16
	// mostStrangers is how many places strangers have at most, of a quarter.
	mostStrangers = 1024
	// answerPatience is how long a stranger's answer may take when others wait:
	// what is open to strangers takes milliseconds.
	answerPatience = 2 * time.Second
	// refusalTime is how long writing a refusal may take.
	refusalTime = 100 * time.Millisecond
)

// NewConnections makes the bound of limit connections in all.
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

// Accept waits for a connection that has a place. Those without are told so.
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

// refuse tells a new connection that there is no place, as far as it listens.
func refuse(conn net.Conn) {
	if conn.SetWriteDeadline(time.Now().Add(refusalTime)) == nil {
		_, _ = conn.Write(refusal)
	}
	_ = conn.Close()
}

// admit gives a new connection a place among the strangers; nil without one.
func (c *Connections) admit(inner net.Conn) *conn {
	c.mu.Lock()
	displaced, ok := c.place(&c.strangers, answerPatience)
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

// place finds a place in a part, and the connection that gives it up. Those
// that have been answered for less than patience keep theirs, all where it is 0.
func (c *Connections) place(p *part, patience time.Duration) (displaced *conn, ok bool) {
	if p.open < p.limit {
		return nil, true
	}
	oldest := p.waiting.Front()
	if first := p.answered.Front(); oldest == nil && first != nil && patience > 0 && time.Since(first.Value.(*conn).since) > patience {
		oldest = first
	}
	if oldest == nil {
		p.refused++
		return nil, false
	}
	displaced = oldest.Value.(*conn)
	displaced.leave()
	p.displaced++
	return displaced, true
}

// state follows the state of a connection; see [http.Server.ConnState].
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
	case state == http.StateIdle:
		conn.inHead, conn.head, conn.body = true, head{}, 0
		conn.join(&conn.part.waiting)
	case state == http.StateClosed, state == http.StateHijacked:
		conn.leave()
	}
}

// know moves a connection on which the token has been seen to its part.
func (c *Connections) know(conn *conn) error {
	c.mu.Lock()
	if conn.gone || conn.part == &c.known {
		c.mu.Unlock()
		return nil
	}
	displaced, ok := c.place(&c.known, 0)
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

// conn is a connection with a place. All but the fields of its head is guarded
// by the pool's mu.
type conn struct {
	net.Conn
	pool  *Connections
	part  *part
	list  *queue.List // where it stands
	at    *queue.Element
	since time.Time
	gone  bool // it has lost its place

	// Of the one goroutine that reads.
	inHead bool
	head   head
	body   int64  // bytes of a body that are still to come, where its length is known
	rest   []byte // read already, but behind the head
}

// join puts a connection at the end of a list.
func (c *conn) join(to *queue.List) {
	if c.list != nil {
		c.list.Remove(c.at)
	}
	c.list, c.at, c.since = to, to.PushBack(c), time.Now()
}

// leave takes a connection's place away.
func (c *conn) leave() {
	if c.list != nil {
		c.list.Remove(c.at)
		c.list = nil
	}
	c.part.open--
	c.gone = true
}

// close closes a connection that was displaced; nil is none.
func (c *conn) close() {
	if c != nil {
		_ = c.Conn.Close() // whoever reads it is told
	}
}

// connKey is where a request's context holds its *conn: net/http offers no
// other way from the connection to the handler.
type connKey struct{}

func withConn(ctx context.Context, inner net.Conn) context.Context {
	if conn, ours := inner.(*conn); ours {
		return context.WithValue(ctx, connKey{}, conn)
	}
	return ctx
}

// connOf returns the connection of a request; nil where it is not counted.
func connOf(r *http.Request) *conn {
	conn, _ := r.Context().Value(connKey{}).(*conn)
	return conn
}

// whileOpen does nothing for a request whose connection was displaced between
// its last byte and here: its caller has been told that nothing happened.
func whileOpen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := connOf(r); conn != nil && conn.lost() {
			panic(http.ErrAbortHandler)
		}
		defer handled(r)
		next.ServeHTTP(w, r)
	})
}

// handled notes that nothing is done any more on a stranger's connection: only
// the end of its answer, and what still comes of its body, are on their way.
func handled(r *http.Request) {
	conn := connOf(r)
	if conn == nil {
		return
	}
	conn.pool.mu.Lock()
	defer conn.pool.mu.Unlock()
	if !conn.gone && conn.part == &conn.pool.strangers {
		conn.join(&conn.part.waiting)
	}
}

func (c *conn) lost() bool {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	return c.gone
}

// tokenSeen notes that a request carried the token.
func tokenSeen(r *http.Request) error {
	if conn := connOf(r); conn != nil {
		return conn.pool.know(conn)
	}
	return nil
}

var (
	connectionsOpenDesc = prometheus.NewDesc("bridged_http_connections",
		"Connections that are open, by whether the token has been seen on them.", []string{"caller"}, nil)
	connectionsLimitDesc = prometheus.NewDesc("bridged_http_connections_limit",
		"How many connections may be open.", []string{"caller"}, nil)
	connectionsRefusedDesc = prometheus.NewDesc("bridged_http_connections_refused_total",
		"Connections that found no place.", []string{"caller"}, nil)
	connectionsDisplacedDesc = prometheus.NewDesc("bridged_http_connections_displaced_total",
		"Connections that were closed to make room.", []string{"caller"}, nil)
)

// Describe is part of prometheus.Collector.
func (c *Connections) Describe(descs chan<- *prometheus.Desc) {
	descs <- connectionsOpenDesc
	descs <- connectionsLimitDesc
	descs <- connectionsRefusedDesc
	descs <- connectionsDisplacedDesc
}

// Collect is part of prometheus.Collector.
func (c *Connections) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for caller, p := range map[string]*part{"stranger": &c.strangers, "known": &c.known} {
		metrics <- prometheus.MustNewConstMetric(connectionsOpenDesc, prometheus.GaugeValue, float64(p.open), caller)
		metrics <- prometheus.MustNewConstMetric(connectionsLimitDesc, prometheus.GaugeValue, float64(p.limit), caller)
		metrics <- prometheus.MustNewConstMetric(connectionsRefusedDesc, prometheus.CounterValue, float64(p.refused), caller)
		metrics <- prometheus.MustNewConstMetric(connectionsDisplacedDesc, prometheus.CounterValue, float64(p.displaced), caller)
	}
}
