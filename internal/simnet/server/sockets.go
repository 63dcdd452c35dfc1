package server

import (
	"crypto/tls"
	"io"
	stdlog "log"
	"net/http"
	"time"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// acceptSocket accepts a client's websocket and serves it until it ends.
func (n *Server) acceptSocket(w http.ResponseWriter, r *http.Request) {
	if n.refused(w) {
		return
	}
	accepted, err := wire.Accept(n.Life, w, r, n.Log)
	if err != nil {
		n.Log.Debugf("websocket not accepted: %v", err)
		return
	}
	c := &people.Client{Conn: accepted}
	if !n.track(c) {
		c.HangUp()
		return
	}
	defer n.untrack(c)
	if err = c.Serve(n.noise, func() bool { return n.begin(c) }, func(node *Node) { n.handle(c, node) }); err != nil {
		n.Log.Debugf("connection ended: %v", err)
	}
}

func (n *Server) track(c *people.Client) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Closed || !n.Running.Join() {
		return false
	}
	n.conns[c] = struct{}{}
	return true
}

func (n *Server) untrack(c *people.Client) {
	c.HangUp()
	n.Mu.Lock()
	delete(n.conns, c)
	n.disconnected(c)
	n.Mu.Unlock()
	n.Running.Leave()
}

// dropAll hangs up on every client.
func (n *Server) dropAll() {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for c := range n.conns {
		c.HangUp()
	}
}

// serve starts the HTTPS server for both the sockets and the CDN.
func (n *Server) serve() {
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", n.acceptSocket)
	mux.HandleFunc("/{$}", n.servePage)
	mux.Handle("/", n.CDN())
	n.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          stdlog.New(io.Discard, "", 0),
		// No HTTP/2: a websocket needs a separate connection.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	secure := tls.NewListener(n.listener, &tls.Config{
		Certificates: []tls.Certificate{n.tls.Certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
		// The hybrid key exchange costs each connection as much as the rest of the handshake.
		CurvePreferences: []tls.CurveID{tls.X25519},
	})
	n.Running.Start(func() { _ = n.server.Serve(secure) })
}

// refusal refuses sockets with a status, or hangs up if that is 0.
type refusal struct{ status int }

// refused turns a client away before the websocket begins, if RefuseSockets demands it, and reports whether it did.
func (n *Server) refused(w http.ResponseWriter) bool {
	n.Mu.Lock()
	r := n.refusal
	n.Mu.Unlock()
	if r == nil {
		return false
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
		return true
	}
	if raw, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = raw.Close()
	}
	return true
}

// RefuseSockets refuses new sockets with an HTTP status, or hangs up if it is 0. The CDN stays up.
func (n *Server) RefuseSockets(status int) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.refusal = &refusal{status: status}
}

// AcceptSockets ends RefuseSockets.
func (n *Server) AcceptSockets() {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.refusal = nil
}

// Down takes the whole network down, sockets and CDN, until Up.
func (n *Server) Down() {
	n.listener.SetDown(true)
	n.dropAll()
}

// Up brings the network back.
func (n *Server) Up() { n.listener.SetDown(false) }
