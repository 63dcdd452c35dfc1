package front

import (
	queue "container/list"
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

var errNoSlot = &bridge.Error{Code: bridge.CodeTooManyConnections, RetryAfter: time.Second, Msg: "too many requests without a token are being answered; try again"}

var errTooMany = &bridge.Error{
	Code: bridge.CodeTooManyConnections, RetryAfter: 5 * time.Second,
	Msg: "too many connections with the token are open; close some, or raise MAX_CONNECTIONS",
}

// assignSlot counts the connection of a request for its caller, or refuses the request. It reports
// whether the connection is still open.
func (c *Connections) assignSlot(conn *conn, r *http.Request) (isOpen bool, err *bridge.Error) {
	tree, known := int64(0), false
	if c.callers != nil {
		tree, known = c.callers(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case conn.gone:
		return false, nil
	case known:
		return true, c.slotKnown(conn, tree)
	}
	return true, c.slotUnauthenticated(conn, r.ContentLength != 0)
}

// slotKnown counts a connection for a token tree. It is in no list while the request is answered. The
// caller holds mu.
func (c *Connections) slotKnown(conn *conn, tree int64) *bridge.Error {
	if conn.group != &c.unauthenticated.group && conn.group.tree == tree {
		conn.leaveList()
		return nil
	}
	c.remove(conn)
	if !c.freeFor(tree) {
		c.add(conn, &c.unauthenticated.group) // until its refusal is sent
		conn.join(&c.unauthenticated.waiting)
		c.known.refused++
		return errTooMany
	}
	if c.trees[tree] == nil {
		c.trees[tree] = &group{tree: tree}
	}
	c.add(conn, c.trees[tree])
	return nil
}

// slotUnauthenticated counts a connection as unauthenticated. If the request has no body, it is
// answered at once and needs one of the slots for that. The caller holds mu.
func (c *Connections) slotUnauthenticated(conn *conn, hasBody bool) *bridge.Error {
	unauthenticated := &c.unauthenticated
	if conn.group != &unauthenticated.group {
		c.remove(conn)
		c.freeUnauthenticated()
		c.add(conn, &unauthenticated.group)
	}
	conn.join(&unauthenticated.waiting)
	if hasBody {
		return nil
	}
	if unauthenticated.evictable.Len() >= unauthenticated.limit/2 {
		late := first(&unauthenticated.evictable)
		if time.Since(late.since) <= unauthenticatedTimeout {
			unauthenticated.refused++
			return errNoSlot
		}
		unauthenticated.evict(late)
	}
	conn.join(&unauthenticated.evictable)
	return nil
}

// freeUnauthenticated evicts an unauthenticated connection if there is no slot for one more. At least
// one is always waiting, because at most half of them are answered. The caller holds mu.
func (c *Connections) freeUnauthenticated() {
	if c.unauthenticated.open >= c.unauthenticated.limit {
		c.unauthenticated.evict(first(&c.unauthenticated.waiting))
	}
}

// freeFor reports whether a token tree may have one more connection, and evicts another one if that
// is necessary. The caller holds mu.
func (c *Connections) freeFor(tree int64) bool {
	mine, moreThan := int64(0), int64(0)
	if g := c.trees[tree]; g != nil {
		mine = int64(g.open)
	}
	isOperator := tree == intake.Operator
	if !isOperator {
		moreThan = mine + 1
	}
	var evicted *conn
	switch {
	case !isOperator && mine >= c.quotas.Each:
		evicted = first(&c.trees[tree].waiting)
	case !isOperator && c.others >= c.quotas.Others:
		evicted = c.evictable(moreThan, func(g *group) bool { return g.tree != intake.Operator })
	case c.known.open >= c.known.limit:
		evicted = c.evictable(moreThan, func(*group) bool { return true })
	default:
		return true
	}
	if evicted != nil {
		c.known.evict(evicted)
	}
	return evicted != nil
}

// evictable returns the connection to evict among some groups: the one that has waited longest for a
// request, otherwise the oldest stream of the token tree with the most connections, if it has more
// than moreThan. It returns nil if there is none. The operator's streams are not evicted.
func (c *Connections) evictable(moreThan int64, among func(*group) bool) *conn {
	var waiting, stream *conn
	for _, g := range c.trees {
		if !among(g) {
			continue
		}
		if one := first(&g.waiting); one != nil && (waiting == nil || one.since.Before(waiting.since)) {
			waiting = one
		}
		if one := first(&g.evictable); one != nil && g.tree != intake.Operator && int64(g.open) > moreThan && (stream == nil || g.open > stream.group.open) {
			stream = one
		}
	}
	if waiting != nil {
		return waiting
	}
	return stream
}

func (p *part) evict(conn *conn) {
	conn.leave()
	p.evicted++
	_ = conn.Conn.Close() // its reader gets the error
}

// first returns the first connection of a list, or nil if the list is empty.
func first(list *queue.List) *conn {
	if at := list.Front(); at != nil {
		return at.Value.(*conn)
	}
	return nil
}

// CountStream counts the connection of a request as a stream or long poll of events until the request
// ends. Streams get at most three quarters of a token tree's slots.
func CountStream(r *http.Request) error {
	conn := connOf(r)
	if conn == nil {
		return nil
	}
	c := conn.pool
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.gone || conn.group == &c.unauthenticated.group {
		return nil
	}
	most := c.quotas.Each
	if conn.group.tree == intake.Operator {
		most = c.quotas.All
	}
	if conn.list != &conn.group.evictable && int64(conn.group.evictable.Len()) >= most-most/4 {
		c.known.refused++
		return errTooMany
	}
	conn.join(&conn.group.evictable)
	return nil
}

// connKey is the key of a request's *conn in its context. net/http has no other way to pass it to the
// handler.
type connKey struct{}

func withConn(ctx context.Context, inner net.Conn) context.Context {
	if conn, ours := inner.(*conn); ours {
		return context.WithValue(ctx, connKey{}, conn)
	}
	return ctx
}

// connOf returns the connection of a request, or nil if it is not counted.
func connOf(r *http.Request) *conn {
	conn, _ := r.Context().Value(connKey{}).(*conn)
	return conn
}

// withSlots counts the connection of each request for its caller, or refuses the request. If the
// connection was evicted after the last byte of the request had arrived, the request is dropped,
// because its caller has seen the connection close.
func withSlots(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := connOf(r)
		if conn == nil {
			next.ServeHTTP(w, r)
			return
		}
		defer conn.handled()
		isOpen, err := conn.pool.assignSlot(conn, r)
		switch {
		case !isOpen:
			panic(http.ErrAbortHandler)
		case err != nil:
			refuse(w, r, err)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// refuse answers a request that gets no slot.
func refuse(w http.ResponseWriter, r *http.Request, err *bridge.Error) {
	RefuseBody(w, r)
	body, _ := bridge.EncodeJSON(map[string]string{"error": err.Msg, "code": string(err.Code)}) // strings never fail
	SecureHeader(w.Header())
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", strconv.Itoa(int(err.RetryAfter.Seconds())))
	w.Header().Set("Content-Type", "application/json")
	AnswerNow(w)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(append(body, '\n')) // a caller that does not read it has gone
}

// handled marks an unauthenticated connection as waiting after its handler has returned, so that it
// may be evicted.
func (c *conn) handled() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if !c.gone && c.group == &c.pool.unauthenticated.group {
		c.join(&c.group.waiting)
	}
}
