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

// dial is one try to connect, and its connection. whatsmeow changes and reads its handler
// of a connection's end (socket/noisesocket.go, socket/framesocket.go) without a lock, so
// the end is held back until the handshake is over, and awaited before the connection is
// replaced or closed on purpose.
type dial struct {
	ctx     context.Context // the socket's
	cancel  context.CancelFunc
	release func() bool   // lets the parent's end be
	settled chan struct{} // closed once the handshake is over, one way or the other
	ended   chan struct{} // closed once whatsmeow has handled the connection's end

	settle func() // closes settled
	finish func() // closes ended

	mu       sync.Mutex
	conn     *wire // the latest; guarded by mu
	upgraded bool  // there is a websocket; guarded by mu
	up       bool  // there is a socket; guarded by mu
	givenUp  bool  // guarded by mu
}

var errGivenUp = errors.New("the dial was given up")

// dialKey finds a dial in its context.
type dialKey struct{}

// newDial returns a dial whose context ends after parent, but never in a handshake.
func newDial(parent context.Context) *dial {
	d := &dial{settled: make(chan struct{}), ended: make(chan struct{})}
	d.settle = sync.OnceFunc(func() { close(d.settled) })
	d.finish = sync.OnceFunc(func() { close(d.ended) })
	d.ctx, d.cancel = context.WithCancel(context.WithValue(context.WithoutCancel(parent), dialKey{}, d))
	d.release = context.AfterFunc(parent, d.abandon)
	return d
}

// dialOf returns the dial that a request or a connection is made for.
func dialOf(ctx context.Context) *dial {
	d, _ := ctx.Value(dialKey{}).(*dial)
	return d
}

// track wraps a connection that was made for d.
func (d *dial) track(conn net.Conn) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.givenUp {
		_ = conn.Close() // nothing was said on it yet
		return nil, errGivenUp
	}
	d.conn = &wire{Conn: conn, dial: d}
	return d.conn, nil
}

// onUpgrade notes that the connection is a websocket now.
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

// onConnected notes how whatsmeow's handshake ended.
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

// abandon ends everything that is done for the dial.
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

// giveUp ends the dial, or cuts its connection without a closing handshake, for which a
// silent peer would let us wait. It leaves a websocket's context, whose end would end the
// reader at any moment.
func (d *dial) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.givenUp = true
	if !d.upgraded {
		d.cancel()
	}
	if d.conn != nil {
		_ = d.conn.Conn.Close() // a connection that is closed already is what we want
	}
}

// close waits until whatsmeow has handled the end of the socket, and forces that end
// where it does not come.
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

// isGivenUp reports whether the connection was cut, or is not wanted any more.
func (d *dial) isGivenUp() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.givenUp
}

// hangUp makes the peer close the connection.
func (d *dial) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn == nil {
		return
	}
	if half, ok := d.conn.Conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		_ = d.conn.Conn.Close() // the same end, less politely
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

// wire is the connection below a websocket. From the upgrade on it holds back its end
// until the handshake is over.
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

// Close ends the wire from whatsmeow's side: a handshake that closes has failed.
func (w *wire) Close() error {
	w.dial.settle()
	return w.Conn.Close()
}

// upgrades hands dials the websockets that were made for them.
type upgrades struct{ http.RoundTripper }

func (u upgrades) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	if d := dialOf(req.Context()); d != nil {
		if err := d.onUpgrade(); err != nil {
			_ = resp.Body.Close() // the connection is closed already
			return nil, err
		}
	}
	return resp, nil
}
