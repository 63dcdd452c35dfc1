package api

import (
	"context"
	"net"
	"net/http"
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

// whileOpen drops a request whose connection was displaced after its last byte
// had come: its caller saw the connection close, so nothing must happen.
func whileOpen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := connOf(r); conn != nil {
			if conn.lost() {
				panic(http.ErrAbortHandler)
			}
			defer conn.handled()
		}
		next.ServeHTTP(w, r)
	})
}

// Admit notes that a request carried a token, for doors beside the router, and
// refuses it where its connection has no place.
func Admit(r *http.Request) error { return tokenSeen(r) }

// tokenSeen notes that a request carried the token.
func tokenSeen(r *http.Request) error {
	if conn := connOf(r); conn != nil {
		return conn.pool.know(conn)
	}
	return nil
}

// lost reports whether a connection has lost its place.
func (c *conn) lost() bool {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	return c.gone
}

// handled notes that the handler of a stranger's request has returned: what is
// left to do is the end of its answer and of its body, which may make room.
func (c *conn) handled() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if !c.gone && c.part == &c.pool.strangers {
		c.join(&c.part.waiting)
	}
}
