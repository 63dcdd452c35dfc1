package server

import "net/http"

// refusal describes how sockets are refused: with a status, or by hanging up if that is 0.
type refusal struct{ status int }

// refused turns a client away before the websocket begins, if RefuseSockets asks for it. It reports whether it did.
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

// RefuseSockets refuses new sockets with an HTTP status, or by hanging up if it is 0. The CDN goes on.
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
