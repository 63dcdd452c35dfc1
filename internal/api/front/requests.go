package front

import (
	"context"
	"net"
	"net/http"
	"strconv"

	"bridged/internal/bridge"
)

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
