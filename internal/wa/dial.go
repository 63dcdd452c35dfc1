package wa

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// dial is one attempt to connect, and its connection. whatsmeow sets and calls its handler for
// the end of a connection (socket/noisesocket.go, socket/framesocket.go) without a lock. So the
// end is delayed until the handshake is over, and awaited before the connection is replaced or
// closed on purpose.
type dial struct {
	ctx     context.Context // context of the socket
	cancel  context.CancelFunc
	release func() bool   // detaches the context from the parent's end
	settled chan struct{} // closed when the handshake has succeeded or failed
	ended   chan struct{} // closed when whatsmeow has handled the connection's end

	settle func() // closes settled
	finish func() // closes ended

	mu       sync.Mutex
	conn     *wire // the latest connection; guarded by mu
	upgraded bool  // there is a websocket; guarded by mu
	up       bool  // there is a socket; guarded by mu
	givenUp  bool  // guarded by mu
}

var errGivenUp = errors.New("the dial was abandoned")

// dialKey is the key of a dial in its context.
type dialKey struct{}

// newDial returns a dial whose context ends after parent, but never during a handshake.
func newDial(parent context.Context) *dial {
	d := &dial{settled: make(chan struct{}), ended: make(chan struct{})}
	d.settle = sync.OnceFunc(func() { close(d.settled) })
	d.finish = sync.OnceFunc(func() { close(d.ended) })
	d.ctx, d.cancel = context.WithCancel(context.WithValue(context.WithoutCancel(parent), dialKey{}, d))
	d.release = context.AfterFunc(parent, d.abandon)
	return d
}

// dialOf returns the dial of the context of a request or a connection.
func dialOf(ctx context.Context) *dial {
	d, _ := ctx.Value(dialKey{}).(*dial)
	return d
}

// track wraps a connection that was made for d.
func (d *dial) track(conn net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.givenUp {
		_ = conn.Close() // nothing was sent on it yet
		return nil, errGivenUp
	}
	d.conn = &wire{Conn: conn, dial: d}
	return d.conn, nil
}

// onUpgrade records that the connection is a websocket now.
func (d *dial) onUpgrade() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.givenUp {
		return errGivenUp
	}
	d.upgraded = true
	if d.conn != nil {
		d.conn.holds.Store(true)
	}
	return nil
}

// onConnected records the result of whatsmeow's handshake.
func (d *dial) onConnected(err error) {
	d.mu.Lock()
	d.up = err == nil
	d.mu.Unlock()
	d.settle()
	if err != nil {
		d.release()
		d.cancel()
	}
}

// abandon ends all work for the dial.
func (d *dial) abandon() {
	d.giveUp()
	d.mu.Lock()
	upgraded := d.upgraded
	d.mu.Unlock()
	if upgraded {
		<-d.settled
	}
	d.cancel()
}

// giveUp ends the dial, or closes its connection without a closing handshake, because a silent
// server would make us wait. It does not cancel a websocket's context, because that would end the
// reader at any moment.
func (d *dial) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.givenUp = true
	if !d.upgraded {
		d.cancel()
	}
	if d.conn != nil {
		_ = d.conn.Conn.Close() // an error means that it is already closed
	}
}

// close waits until whatsmeow has handled the end of the socket. If that takes too long, it
// forces the end.
func (d *dial) close() {
	if !d.isUp() || d.awaitEnd() {
		return
	}
	d.giveUp()
	d.awaitEnd()
}

// awaitEnd waits up to [politeClose] for whatsmeow to handle the connection's end.
func (d *dial) awaitEnd() bool {
	select {
	case <-d.ended:
		return true
	case <-time.After(politeClose):
		return false
	}
}

// isGivenUp reports whether the dial was abandoned or its connection closed.
func (d *dial) isGivenUp() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.givenUp
}

// hangUp makes the server close the connection.
func (d *dial) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn == nil {
		return
	}
	if half, ok := d.conn.Conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		_ = d.conn.Conn.Close() // has the same effect, less politely
	}
}

// isUp reports whether there is a socket whose end whatsmeow has not handled.
func (d *dial) isUp() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.ended:
		return false
	default:
		return d.up
	}
}

// wire is the network connection of a websocket. After the upgrade it delays its end until the
// handshake is over.
type wire struct {
	net.Conn
	dial  *dial
	holds atomic.Bool
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if err != nil && w.holds.Load() {
		<-w.dial.settled
	}
	return n, err
}

// Close ends the wire from whatsmeow's side. During the handshake it means that the handshake has
// failed.
func (w *wire) Close() error {
	w.dial.settle()
	return w.Conn.Close()
}

// upgrades assigns websockets to the dials that they were made for.
type upgrades struct{ http.RoundTripper }

func (u upgrades) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	if d := dialOf(req.Context()); d != nil {
		if err := d.onUpgrade(); err != nil {
			_ = resp.Body.Close() // the connection is already closed
			return nil, err
		}
	}
	return resp, nil
}
