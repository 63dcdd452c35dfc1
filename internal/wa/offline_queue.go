package wa

import (
	"sync"
	"sync/atomic"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/wa/offline"
)

// stallPause is the pause between two reconnects because of a stalled offline queue.
const stallPause = time.Hour

// stalls counts the stanzas of the network's offline queues, and the stalls of these queues.
type stalls struct {
	received, stalled atomic.Uint64
	silence           atomic.Int64 // replaces offline.Silence in tests

	mu          sync.Mutex
	reconnected time.Time // because of a stall; guarded by mu
}

// shouldReconnect reports whether to reconnect now because of a stall, and records that.
func (s *stalls) shouldReconnect(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reconnected.IsZero() && now.Sub(s.reconnected) < stallPause {
		return false
	}
	s.reconnected = now
	return true
}

// newOfflineQueue returns the offline queue for a link's connections.
func (l *link) newOfflineQueue() *offline.Queue {
	s := &l.m.stalls
	return offline.New(l.ctx, offline.Options{
		Send:     func(node waBinary.Node) error { return l.cli.SendNode(l.ctx, node) },
		Received: func() { s.received.Add(1) },
		Stalled:  l.onStalled,
		Ended:    l.onCaughtUp,
		Silence:  func() time.Duration { return time.Duration(s.silence.Load()) },
		Log:      l.m.log,
	})
}

// withheld is the status' sentence while an offline queue is not delivered even after a
// reconnect.
// Remedy: if it stays, report it with the log. `bridged reconnect` reconnects at once.
const withheld = "the network announced stored messages and does not deliver them: bridged requests them every minute and reconnects every hour"

// onStalled reconnects, at most once in stallPause, if the network does not deliver its offline
// queue.
func (l *link) onStalled(bridge.CatchingUp) {
	s := &l.m.stalls
	s.stalled.Add(1)
	if s.shouldReconnect(time.Now()) {
		l.notify(notice{kind: noticeSilent, sentence: "the network announced stored messages and does not deliver them; reconnecting"})
		return
	}
	l.m.warn(withheld)
}

func (l *link) onCaughtUp() {
	if l.m.forgetError(withheld) {
		l.m.announce("")
	}
}
