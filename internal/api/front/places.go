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

var errNoPlace = &bridge.Error{Code: bridge.CodeTooManyConnections, RetryAfter: time.Second, Msg: "too many requests without a token are being answered; try again"}

var errNoRoom = &bridge.Error{
	Code: bridge.CodeTooManyConnections, RetryAfter: 5 * time.Second,
	Msg: "too many connections with the token are open; close some, or raise MAX_CONNECTIONS",
}

// place gives the connection of a request a place in its family, or refuses it. It reports
// whether the connection is still open.
func (c *Connections) place(conn *conn, r *http.Request) (isOpen bool, err *bridge.Error) {
	family, known := int64(0), false
	if c.callers != nil {
		family, known = c.callers(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case conn.gone:
		return false, nil
	case known:
		return true, c.placeKnown(conn, family)
	}
	return true, c.placeStranger(conn, r.ContentLength != 0)
}

// placeKnown counts a connection for a family. While it is answered, it is in no list. The
// caller holds mu, as for all below.
func (c *Connections) placeKnown(conn *conn, family int64) *bridge.Error {
	if conn.group != &c.strangers.group && conn.group.family == family {
		conn.leaveList()
		return nil
	}
	c.take(conn)
	if !c.makeRoomFor(family) {
		c.enter(conn, &c.strangers.group) // one too many, until its refusal is sent
		conn.join(&c.strangers.waiting)
		c.known.refused++
		return errNoRoom
	}
	if c.families[family] == nil {
		c.families[family] = &group{family: family}
	}
	c.enter(conn, c.families[family])
	return nil
}

// placeStranger notes that a stranger's request is answered, or waits for its body.
func (c *Connections) placeStranger(conn *conn, hasBody bool) *bridge.Error {
	strangers := &c.strangers
	if conn.group != &strangers.group {
		c.take(conn)
		c.makeRoomAmongStrangers()
		c.enter(conn, &strangers.group)
	}
	conn.join(&strangers.waiting)
	if hasBody {
		return nil
	}
	if strangers.kept.Len() >= strangers.limit/2 {
		late := first(&strangers.kept)
		if time.Since(late.since) <= answerPatience {
			strangers.refused++
			return errNoPlace
		}
		strangers.displace(late)
	}
	conn.join(&strangers.kept)
	return nil
}

// makeRoomAmongStrangers makes room for one more stranger. One always waits, because at
// most half of them are answered.
func (c *Connections) makeRoomAmongStrangers() {
	if c.strangers.open >= c.strangers.limit {
		c.strangers.displace(first(&c.strangers.waiting))
	}
}

// makeRoomFor reports whether a family may have one more connection, and displaces another
// one if it must.
func (c *Connections) makeRoomFor(family int64) bool {
	mine, moreThan := int64(0), int64(0)
	if g := c.families[family]; g != nil {
		mine = int64(g.open)
	}
	isOperator := family == intake.Operator
	if !isOperator {
		moreThan = mine + 1
	}
	var makesRoom *conn
	switch {
	case !isOperator && mine >= c.shares.Each:
		makesRoom = first(&c.families[family].waiting)
	case !isOperator && c.others >= c.shares.Others:
		makesRoom = c.displaceable(moreThan, func(g *group) bool { return g.family != intake.Operator })
	case c.known.open >= c.known.limit:
		makesRoom = c.displaceable(moreThan, func(*group) bool { return true })
	default:
		return true
	}
	if makesRoom != nil {
		c.known.displace(makesRoom)
	}
	return makesRoom != nil
}

// displaceable returns the connection among some groups that makes room: the one that has
// waited longest for a request, else the oldest stream of the family with the most
// connections, if it has more than so many. nil is none. The operator's streams stay.
func (c *Connections) displaceable(moreThan int64, among func(*group) bool) *conn {
	var waiting, stream *conn
	for _, g := range c.families {
		if !among(g) {
			continue
		}
		if one := first(&g.waiting); one != nil && (waiting == nil || one.since.Before(waiting.since)) {
			waiting = one
		}
		if one := first(&g.kept); one != nil && g.family != intake.Operator && int64(g.open) > moreThan && (stream == nil || g.open > stream.group.open) {
			stream = one
		}
	}
	if waiting != nil {
		return waiting
	}
	return stream
}

func (p *part) displace(conn *conn) {
	conn.leave()
	p.displaced++
	_ = conn.Conn.Close() // its reader gets the error
}

// first returns the first connection of a list; nil for none.
func first(list *queue.List) *conn {
	if at := list.Front(); at != nil {
		return at.Value.(*conn)
	}
	return nil
}

// Keep notes that the connection of a request carries a stream of events, or waits for
// one, until the request ends. A quarter of a family's places is for calls.
func Keep(r *http.Request) error {
	conn := connOf(r)
	if conn == nil {
		return nil
	}
	c := conn.pool
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.gone || conn.group == &c.strangers.group {
		return nil
	}
	most := c.shares.Each
	if conn.group.family == intake.Operator {
		most = c.shares.All
	}
	if conn.list != &conn.group.kept && int64(conn.group.kept.Len()) >= most-most/4 {
		c.known.refused++
		return errNoRoom
	}
	conn.join(&conn.group.kept)
	return nil
}

// connKey is the key of a request's *conn in its context, the only way that
// net/http offers from the connection to the handler.
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

// placed gives the connection of each request its place, or refuses it. It drops a request
// whose connection was displaced after its last byte had come: its caller saw the
// connection close, so nothing must happen.
func placed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := connOf(r)
		if conn == nil {
			next.ServeHTTP(w, r)
			return
		}
		defer conn.handled()
		isOpen, err := conn.pool.place(conn, r)
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

// refuse answers a request for whose connection there is no place.
func refuse(w http.ResponseWriter, r *http.Request, err *bridge.Error) {
	RefuseBody(w, r)
	body, _ := bridge.EncodeJSON(map[string]string{"error": err.Msg, "code": string(err.Code)}) // which strings never fail
	SecureHeader(w.Header())
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", strconv.Itoa(int(err.RetryAfter.Seconds())))
	w.Header().Set("Content-Type", "application/json")
	AnswerNow(w)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(append(body, '\n')) // a caller that does not read it has gone
}

// handled notes that the handler of a stranger's request has returned, so that the
// connection may make room.
func (c *conn) handled() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if !c.gone && c.group == &c.pool.strangers.group {
		c.join(&c.group.waiting)
	}
}
