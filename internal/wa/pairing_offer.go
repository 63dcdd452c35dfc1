package wa

import (
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// offer holds the codes by which an unpaired link can be paired.
type offer struct {
	secrets *session.PairingSecrets
	paired  atomic.Bool // the session is stored

	mu          sync.Mutex // guards the fields below
	codes       []string   // QR codes of the present socket, which take turns
	codesAt     time.Time
	turn        int // which of them is shown
	turnEnds    time.Time
	code        string // the pairing code
	codeExpires time.Time
	passkey     *bridge.Passkey
	passkeyAt   time.Time
	refusal     string // why the network gives no codes for a while; empty if it may
}

// show adds what is offered to the account's status.
func (o *offer) show(status *bridge.Status, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	status.QR = o.qr(now)
	if o.code != "" && now.Before(o.codeExpires) {
		code, expires := o.code, bridge.At(o.codeExpires)
		status.PairingCode, status.PairingCodeExpiresAt = &code, &expires
	}
	if o.passkey != nil {
		status.Passkey = new(*o.passkey)
	}
}

// qr returns the QR code to show now, or nil. The caller holds mu.
func (o *offer) qr(now time.Time) *string {
	if o.paired.Load() || o.passkey != nil || !o.takeTurns(now) {
		return nil
	}
	code := o.secrets.InQR(o.codes[o.turn])
	return &code
}

// takeTurns moves on to the present code, and reports whether there is one. The caller
// holds mu.
func (o *offer) takeTurns(now time.Time) bool {
	for o.turn < len(o.codes) && !now.Before(o.turnEnds) {
		o.turn++
		o.turnEnds = o.turnEnds.Add(nextQRLife)
	}
	return o.turn < len(o.codes)
}

// rotate puts a new secret into the QR codes. The phone that has scanned one waits for the
// same code with the new secret, which stays for a whole turn.
func (o *offer) rotate(e *events.RotateADVSecret, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.takeTurns(now) && o.turnEnds.Before(now.Add(nextQRLife)) {
		o.turnEnds = now.Add(nextQRLife)
	}
	return o.secrets.OnRotation(e)
}

// reset forgets what an old socket offered.
func (o *offer) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.codes, o.code, o.passkey, o.refusal = nil, "", nil, ""
}

// refuse notes why there are no codes, until the next dial.
func (o *offer) refuse(sentence string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refusal = sentence
}

// refused returns why the network gives no codes for a while; empty if it may.
func (o *offer) refused() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refusal
}

func (o *offer) setCodes(codes []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.codes, o.codesAt, o.turn = codes, time.Now(), 0
	o.turnEnds = o.codesAt.Add(firstQRLife)
	o.secrets.OnCodes()
}

// age returns how old the socket's QR codes are; not ok while there are none.
func (o *offer) age() (age time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.codesAt), len(o.codes) > 0
}

// setCode keeps a pairing code, and returns when it expires.
func (o *offer) setCode(code string) bridge.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.code, o.codeExpires = code, o.codesAt.Add(socketLife)
	return bridge.At(o.codeExpires)
}

func (o *offer) dropCode() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.code = ""
}

// pairingRounds limits the sockets that offer codes for socketLife before a pairing that is
// not asked for rests. No official client opens sockets without end.
const pairingRounds = 5

// resting describes a pairing that rests; asking for the status ends the rest.
const resting = "pairing is paused, because no code was requested for a while: requesting the status or a pairing code resumes it, and the next status has a QR code"

// WakePairing notes that codes are asked for, and ends a pairing's rest.
func (m *Manager) WakePairing() {
	m.mu.Lock()
	p := m.pairing
	m.mu.Unlock()
	if p != nil && !p.asked.Swap(true) {
		p.l.notify(notice{kind: noticeAsked})
	}
}

func (p *pairing) rest() {
	p.offered = false
	p.offer.reset()
	p.l.disconnect()
	p.enter(phaseHalted, 0)
	p.m.setState(bridge.StateNeedsPair, resting)
}

// onAsked begins to count anew, and ends a rest.
func (p *pairing) onAsked() {
	p.asked.Store(false)
	p.unasked = 0
	if p.phase == phaseHalted {
		p.m.forgetError(resting)
		p.renew(0)
	}
}
