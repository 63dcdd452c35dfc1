package wa

import (
	"sync"

	"bridged/internal/bridge"
)

// pairingRounds is how many sockets offer their codes, each for socketLife, before an
// unpaired bridge rests because nobody asks for them. Nothing official opens sockets
// without end.
const pairingRounds = 5

// resting is the sentence of a pairing that rests. Whoever reads it in the status has
// ended the rest by asking.
const resting = "nobody asked for a code for a while, so none is offered: asking for the status or a pairing code goes on, and the next status has a QR code"

// attention is what is paid to a pairing by those who may pair the account.
type attention struct {
	mu      sync.Mutex // guards the fields below
	rounds  int        // sockets since somebody asked
	resting bool
}

// pass counts a socket whose codes were offered, and reports whether to rest now.
func (a *attention) pass() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rounds++
	a.resting = a.rounds >= pairingRounds
	return a.resting
}

// pay notes that somebody asks, and reports whether that ends a rest.
func (a *attention) pay() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ended := a.resting
	a.rounds, a.resting = 0, false
	return ended
}

// WakePairing tells that somebody asks for what is needed to pair. A pairing that rests
// goes on.
func (m *Manager) WakePairing() {
	m.mu.Lock()
	p := m.pairing
	m.mu.Unlock()
	if p != nil && p.attention.pay() {
		p.l.notify(notice{kind: noticeAsked})
	}
}

// rest offers nothing until somebody asks.
func (p *pairing) rest() {
	p.offered = false
	p.offer.reset()
	p.l.disconnect()
	p.enter(phaseHalted, 0)
	p.m.setState(bridge.StateNeedsPair, resting)
}

// wake goes on.
func (p *pairing) wake() {
	p.m.forgetError(resting)
	p.renew(0)
}
