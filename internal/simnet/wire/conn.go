package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/socket"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// Conn is one client's websocket, from its handshake to its end.
type Conn struct {
	ws      *websocket.Conn
	log     waLog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	frames  frameReader
	session *session

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
	node   Node
	hangUp bool
}

// maxBatch limits the frames of one websocket message: whatsmeow reads any number, and each message costs a write.
const maxBatch = 32

// Accept accepts a client's websocket, which lasts no longer than ctx.
func Accept(ctx context.Context, w http.ResponseWriter, r *http.Request, log waLog.Logger) (*Conn, error) {
	// The origin does not matter here.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(socket.FrameMaxSize + 16)
	c := &Conn{ws: ws, log: log, wake: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c, nil
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Ended reports whether the connection has ended.
func (c *Conn) Ended() bool { return c.ctx.Err() != nil }

// Payload returns the client's payload from the handshake.
func (c *Conn) Payload() *waWa6.ClientPayload { return c.session.payload }

// Key returns the client's static key.
func (c *Conn) Key() [32]byte { return c.session.clientStatic }

// HangUp cuts the connection without a stream error, as a lost network does.
func (c *Conn) HangUp() {
	c.cancel()
	_ = c.ws.CloseNow()
}

// Serve performs the handshake and serves the client until its connection ends. begin admits the client and reports whether to go on; handle
// gets its stanzas, one after the other.
func (c *Conn) Serve(id *Identity, begin func() bool, handle func(*Node)) error {
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
	c.session, err = id.handshake(ctx, prologue, c.frames.next, write)
	if err != nil {
		return fmt.Errorf("noise handshake: %w", err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		defer c.HangUp()
		c.writeLoop()
	})
	defer writer.Wait()
	defer c.cancel()
	if begin() {
		return c.readLoop(handle)
	}
	<-c.ctx.Done()
	return nil
}

func (c *Conn) readMessage(ctx context.Context) ([]byte, error) {
	kind, data, err := c.ws.Read(ctx)
	if err == nil && kind != websocket.MessageBinary {
		err = errors.New("the client sent a text message")
	}
	return data, err
}

func (c *Conn) readLoop(handle func(*Node)) error {
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
		handle(node)
	}
}

func (c *Conn) decode(frame []byte) (*Node, error) {
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

// Send queues a stanza for the client. It never blocks.
func (c *Conn) Send(node Node) { c.enqueue(outgoing{node: node}) }

// SendLast queues a stanza and hangs up after it; an empty one only hangs up.
func (c *Conn) SendLast(node Node) { c.enqueue(outgoing{node: node, hangUp: true}) }

func (c *Conn) enqueue(o outgoing) {
	c.mu.Lock()
	c.queue = append(c.queue, o)
	c.mu.Unlock()
	c.signal()
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take removes the next frames to be written; none while the connection is frozen.
func (c *Conn) take() []outgoing {
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

func (c *Conn) writeLoop() {
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

// linger gives the client time to read the last stanza: closing the socket with unread data in its buffers would reset the connection, and
// the client would lose the stanza.
func (c *Conn) linger() {
	timer := time.NewTimer(50 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// encode appends the frames of a batch to buffer, up to the one after which the server hangs up.
func (c *Conn) encode(buffer []byte, batch []outgoing) (frames []byte, last bool) {
	for _, o := range batch {
		if o.node.Tag == "" {
			return buffer, true
		}
		payload, err := waBinary.Marshal(o.node)
		if err != nil {
			c.log.Errorf("stanza %s not encoded: %v", o.node.Tag, err)
			continue
		}
		start := len(buffer)
		buffer = append(buffer, 0, 0, 0)
		buffer = c.session.seal(buffer, payload)
		putFrameLength(buffer[start:], len(buffer)-start-socket.FrameLengthSize)
		if c.damagesNext() {
			buffer[len(buffer)-1] ^= 0xff
		}
		if o.hangUp {
			return buffer, true
		}
	}
	return buffer, false
}
