// Package offline asks the network for the stanzas that it queued while the account was not connected.
//
// A companion logs in with pull=true, which whatsmeow sets. The network then announces the number of queued stanzas with
// <ib><offline_preview count="N"/></ib>, delivers a few of them, and the rest only in answer to <ib><offline_batch/></ib>,
// which whatsmeow never sends. <ib><offline/></ib> ends the queue (the network in winter 2026, section 3).
package offline

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
)

const (
	// batch is the number of stanzas in a request, as in WhatsApp Web.
	batch = 200
	// requestGap separates two requests, as in WhatsApp Web.
	requestGap = 100 * time.Millisecond
	// mostUnhandled is how many received stanzas may be unhandled when the next batch is requested.
	// whatsmeow's queue holds 2,048 (client.go, handlerQueueSize), and it does not handle further
	// ones in order.
	mostUnhandled = 2 * batch
	// Silence is how long a queue may make no progress before it counts as stalled, as in
	// WhatsApp Web.
	Silence = time.Minute
	// logGap separates two log lines about the progress.
	logGap = 10 * time.Second
)

// Options configures a [Queue].
type Options struct {
	// Send writes a stanza to the current connection.
	Send func(node waBinary.Node) error
	// Stalled is called whenever a queue that has not ended makes no progress for Silence.
	Stalled func(p bridge.CatchingUp)
	// Ended is called when the network has delivered a queue completely. It must not block.
	Ended func()
	// Received is called for each queued stanza. It must not block.
	Received func()
	// Silence replaces the constant in tests, unless it returns 0.
	Silence func() time.Duration
	Log     zerolog.Logger
}

// Queue follows the offline queue of one client's connections, one after the other. Its methods may be called from any
// goroutine and do not block.
type Queue struct {
	o   Options
	ctx context.Context // ends with the client

	mu      sync.Mutex
	current *drain // nil if there is no queue; guarded by mu
}

// New returns the queue of a client that lives as long as ctx.
func New(ctx context.Context, o Options) *Queue { return &Queue{o: o, ctx: ctx} }

// drain is the delivery of one connection's queue.
type drain struct {
	cancel context.CancelFunc
	moved  chan struct{} // has an element after a stanza was received or handled
	began  time.Time

	// Queue.mu guards the fields from here on.
	received, expected int
	unhandled          []string // ids of the stanzas that were received but not handled yet, in order
}

// OnReceived records a stanza from the network before whatsmeow handles it.
func (q *Queue) OnReceived(node *waBinary.Node) {
	if node.Tag == "ib" {
		for _, child := range node.GetChildren() {
			switch child.Tag {
			case "offline_preview":
				count, _ := strconv.Atoi(text(&child, "count"))
				q.start(count)
			case "offline":
				q.end()
			}
		}
		return
	}
	if _, queued := node.Attrs["offline"]; queued {
		q.receive(text(node, "id"))
	}
}

// OnWritten records a stanza that is written to the network. An acknowledgement shows that its
// stanza and all earlier ones were handled.
func (q *Queue) OnWritten(node *waBinary.Node) {
	if node.Tag != "ack" && node.Tag != "receipt" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.current; d != nil {
		if i := slices.Index(d.unhandled, text(node, "id")); i >= 0 {
			d.unhandled = d.unhandled[i+1:]
			d.wake()
		}
	}
}

// Abandon drops the current queue after its connection has ended. The network announces the rest
// again on the next connection.
func (q *Queue) Abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop()
}

// Progress returns the progress of the current queue, or nil if there is none.
func (q *Queue) Progress() *bridge.CatchingUp {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.current == nil {
		return nil
	}
	return &bridge.CatchingUp{Received: q.current.received, Expected: q.current.expected}
}

// start requests the announced stanzas. If the network announces more while a queue is delivered,
// they are added to it.
func (q *Queue) start(count int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case count <= 0 || q.ctx.Err() != nil:
	case q.current != nil:
		q.current.expected += count
	default:
		ctx, cancel := context.WithCancel(q.ctx)
		d := &drain{cancel: cancel, moved: make(chan struct{}, 1), began: time.Now(), expected: count}
		q.current = d
		q.o.Log.Info().Int("expected", count).Msg("requesting the stanzas that the network has stored")
		go q.request(ctx, d)
	}
}

func (q *Queue) receive(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.current; d != nil {
		d.received++
		d.unhandled = append(d.unhandled, id)
		d.wake()
		q.o.Received()
	}
}

// end records that the network has delivered the current queue.
func (q *Queue) end() {
	q.mu.Lock()
	d := q.current
	q.stop()
	q.mu.Unlock()
	if d == nil {
		return
	}
	p, _ := q.counts(d)
	q.o.Log.Info().Int("received", p.Received).Int("expected", p.Expected).Dur("took", time.Since(d.began)).Msg("caught up")
	q.o.Ended()
}

// stop ends the requests of the current queue. The caller holds mu.
func (q *Queue) stop() {
	if q.current != nil {
		q.current.cancel()
		q.current = nil
	}
}

func (d *drain) wake() { bridge.Wake(d.moved) }

// request requests one batch after the other: the next one when a stanza of the previous batch
// was received and few enough stanzas are unhandled.
func (q *Queue) request(ctx context.Context, d *drain) {
	logged, silence := time.Now(), time.NewTimer(q.silence())
	defer silence.Stop()
	for {
		before, _ := q.counts(d)
		if !q.send(ctx) {
			return
		}
		asked := time.Now()
		for waits := true; waits; silence.Reset(q.silence()) {
			select {
			case <-ctx.Done():
				return
			case <-silence.C:
				waits = false
				q.reportStall(d)
			case <-d.moved:
				received, unhandled := q.counts(d)
				waits = received.Received == before.Received || unhandled > mostUnhandled
				if time.Since(logged) >= logGap {
					logged = time.Now()
					q.o.Log.Info().Int("received", received.Received).Int("expected", received.Expected).Msg("catching up")
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(requestGap - time.Since(asked)):
		}
	}
}

// send requests one batch. It returns false if the connection is lost; the next connection has
// its own queue.
func (q *Queue) send(ctx context.Context) bool {
	err := q.o.Send(waBinary.Node{Tag: "ib", Content: []waBinary.Node{
		{Tag: "offline_batch", Attrs: waBinary.Attrs{"count": strconv.Itoa(batch)}},
	}})
	if err != nil && ctx.Err() == nil {
		q.o.Log.Debug().Str("error", bridge.Redact(err.Error())).Msg("cannot request the next stored stanzas")
	}
	return err == nil
}

// counts returns the progress of a queue, and how many of its stanzas were received but not
// handled.
func (q *Queue) counts(d *drain) (p bridge.CatchingUp, unhandled int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return bridge.CatchingUp{Received: d.received, Expected: d.expected}, len(d.unhandled)
}

func (q *Queue) reportStall(d *drain) {
	p, _ := q.counts(d)
	q.o.Log.Warn().Int("received", p.Received).Int("expected", p.Expected).Dur("silence", q.silence()).
		Msg("the network has announced stored stanzas and does not deliver them")
	q.o.Stalled(p)
}

func (q *Queue) silence() time.Duration {
	if q.o.Silence != nil {
		return cmp.Or(q.o.Silence(), Silence)
	}
	return Silence
}

// text returns an attribute, or "" if it is not a string.
func text(node *waBinary.Node, key string) string {
	value, _ := node.Attrs[key].(string)
	return value
}
