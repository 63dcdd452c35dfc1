package simnet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/socket"
)

// conn serves one client's websocket, from its handshake to its end.
type conn struct {
	net     *Network
	ws      *websocket.Conn
	ctx     context.Context
	cancel  context.CancelFunc
	frames  frameReader
	session *noiseSession

	// device and pairing tell what the connection turned out to be. Network.mu guards them and mute.
	device  *Device
	pairing *pairing
	mute    bool // while an answer is lost

	// mu guards the frames to be written and the freeze.
	mu      sync.Mutex
	queue   []outgoing
	wake    chan struct{}
	frozen  bool
	thawed  chan struct{}
	delay   time.Duration
	corrupt int
}

// outgoing is a stanza to be written, the order to hang up, or both.
type outgoing struct {
	node   waBinary.Node
	hangUp bool
}

// maxBatch is how many frames share one websocket message: whatsmeow reads any number of them, and every message costs a write.
const maxBatch = 32

// acceptSocket accepts a client's websocket and serves it until it ends.
func (n *Network) acceptSocket(w http.ResponseWriter, r *http.Request) {
	if n.refused(w) {
		return
	}
	// The origin does not matter here.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		n.log.Debugf("websocket not accepted: %v", err)
		return
	}
	ws.SetReadLimit(socket.FrameMaxSize + 16)
	c := &conn{net: n, ws: ws, wake: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(n.ctx)
	if !n.track(c) {
		_ = ws.CloseNow()
		return
	}
	defer n.untrack(c)
	if err = c.serve(); err != nil {
		n.log.Debugf("connection ended: %v", err)
	}
}

func (n *Network) track(c *conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || !n.running.join() {
		return false
	}
	n.conns[c] = struct{}{}
	return true
}

func (n *Network) untrack(c *conn) {
	c.hangUp()
	n.mu.Lock()
	delete(n.conns, c)
	n.disconnected(c)
	n.mu.Unlock()
	n.running.leave()
}

// dropAll hangs up on every client.
func (n *Network) dropAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.hangUp()
	}
}

// hangUp cuts the connection without a stream error, as a lost network does.
func (c *conn) hangUp() {
	c.cancel()
	_ = c.ws.CloseNow()
}

func (c *conn) serve() error {
	c.frames.read = c.readMessage
	ctx, cancel := context.WithTimeout(c.ctx, 20*time.Second)
	defer cancel()
	prologue, err := c.frames.prologue(ctx)
	if err != nil {
		return fmt.Errorf("read the prologue: %w", err)
	}
	write := func(ctx context.Context, frame []byte) error {
		return c.ws.Write(ctx, websocket.MessageBinary, appendFrame(nil, frame))
	}
	c.session, err = c.net.noise.handshake(ctx, prologue, c.frames.next, write)
	if err != nil {
		return fmt.Errorf("noise handshake: %w", err)
	}
	var writer sync.WaitGroup
	writer.Add(1)
	go func() {
		defer writer.Done()
		defer c.hangUp()
		c.writeLoop()
	}()
	defer writer.Wait()
	defer c.cancel()
	if c.net.begin(c) {
		return c.readLoop()
	}
	<-c.ctx.Done()
	return nil
}

func (c *conn) readMessage(ctx context.Context) ([]byte, error) {
	kind, data, err := c.ws.Read(ctx)
	if err == nil && kind != websocket.MessageBinary {
		err = errors.New("the client sent a text message")
	}
	return data, err
}

func (c *conn) readLoop() error {
	for {
		frame, err := c.frames.next(c.ctx)
		if err != nil {
			return err
		}
		if err = c.untilThawed(); err != nil {
			return err
		}
		node, err := c.decode(frame)
		if err != nil {
			return err
		}
		c.net.handle(c, node)
	}
}

func (c *conn) decode(frame []byte) (*waBinary.Node, error) {
	plain, err := c.session.open(frame)
	if err != nil {
		return nil, fmt.Errorf("decrypt a frame: %w", err)
	} else if len(plain) == 0 {
		return nil, errors.New("an empty frame")
	}
	plain, err = waBinary.Unpack(plain)
	if err != nil {
		return nil, fmt.Errorf("decompress a frame: %w", err)
	}
	node, err := waBinary.Unmarshal(plain)
	if err != nil {
		return nil, fmt.Errorf("decode a stanza: %w", err)
	}
	return node, nil
}

// send queues a stanza for the client. It never blocks.
func (c *conn) send(node waBinary.Node) { c.enqueue(outgoing{node: node}) }

// sendLast queues a stanza after which the server hangs up; an empty one only hangs up.
func (c *conn) sendLast(node waBinary.Node) { c.enqueue(outgoing{node: node, hangUp: true}) }

func (c *conn) enqueue(o outgoing) {
	c.mu.Lock()
	c.queue = append(c.queue, o)
	c.mu.Unlock()
	c.signal()
}

func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take removes the next frames to be written, none while the connection is frozen.
func (c *conn) take() []outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen || len(c.queue) == 0 {
		return nil
	}
	size := min(len(c.queue), maxBatch)
	batch := c.queue[:size:size]
	c.queue = c.queue[size:]
	if len(c.queue) == 0 {
		c.queue = nil
	}
	return batch
}

func (c *conn) writeLoop() {
	var buffer []byte
	for {
		batch := c.take()
		if batch == nil {
			select {
			case <-c.wake:
				continue
			case <-c.ctx.Done():
				return
			}
		}
		if c.pause() != nil {
			return
		}
		var last bool
		buffer, last = c.encode(buffer[:0], batch)
		if len(buffer) > 0 && c.ws.Write(c.ctx, websocket.MessageBinary, buffer) != nil {
			return
		}
		if last {
			c.linger()
			return
		}
	}
}

// linger gives the client time to read the last stanza: closing with something unread in the buffers would reset the
// connection, and the client would lose it.
func (c *conn) linger() {
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// encode appends the frames of a batch to buffer, up to the one after which the server hangs up.
func (c *conn) encode(buffer []byte, batch []outgoing) (frames []byte, last bool) {
	for _, o := range batch {
		if o.node.Tag == "" {
			return buffer, true
		}
		payload, err := waBinary.Marshal(o.node)
		if err != nil {
			c.net.log.Errorf("stanza %s not encoded: %v", o.node.Tag, err)
			continue
		}
		start := len(buffer)
		buffer = append(buffer, 0, 0, 0)
		buffer = c.session.seal(buffer, payload)
		putFrameLength(buffer[start:], len(buffer)-start-socket.FrameLengthSize)
		if c.spoil() {
			buffer[len(buffer)-1] ^= 0xff
		}
		if o.hangUp {
			return buffer, true
		}
	}
	return buffer, false
}
