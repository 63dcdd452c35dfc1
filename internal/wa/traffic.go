package wa

import (
	"sync/atomic"
	"time"

	"bridged/internal/bridge"
)

// traffic counts the messages that the account has sent and received since the program started.
type traffic struct {
	received, undecryptable atomic.Uint64

	lastReceived atomic.Int64 // in milliseconds; 0 before the first
}

// stored counts the messages of a stored stanza.
func (t *traffic) stored(facts []bridge.Fact) {
	for _, fact := range facts {
		m, ok := fact.(bridge.Message)
		switch {
		case !ok:
		case m.MessageType == bridge.TypeUndecryptable:
			t.undecryptable.Add(1)
		default:
			t.received.Add(1)
			t.lastReceived.Store(time.Now().UnixMilli())
		}
	}
}

// Traffic returns the counts of messages since the program started.
func (m *Manager) Traffic() bridge.Traffic {
	t := &m.traffic
	counted := bridge.Traffic{Received: t.received.Load(), Undecryptable: t.undecryptable.Load()}
	counted.Sent, counted.Failed, counted.SentAgain = m.Counts()
	counted.QueuedReceived, counted.QueueStalls = m.stalls.received.Load(), m.stalls.stalled.Load()
	if at := t.lastReceived.Load(); at != 0 {
		last := bridge.Millis(at)
		counted.LastReceivedAt = &last
	}
	if at := m.phone.lastSeen(); !at.IsZero() {
		counted.PhoneSeenAt = new(bridge.At(at))
	}
	return counted
}
