package wa

import (
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// offer holds the codes with which an unpaired link can be paired.
type offer struct {
	secrets *session.PairingSecrets
	paired  atomic.Bool // the session is stored

	mu          sync.Mutex // guards the fields from here on
	codes       []string   // QR codes of the current socket, shown in turn
	codesAt     time.Time
	turn        int // index of the shown code
	turnEnds    time.Time
	code        string // the pairing code
	codeExpires time.Time
	passkey     *bridge.Passkey
	refusal     string // why the network sends no codes for now; "" if it does
}

// show adds the codes to the account's status.
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

// takeTurns moves on to the current code and reports whether there is one. The caller holds mu.
func (o *offer) takeTurns(now time.Time) bool {
	for o.turn < len(o.codes) && !now.Before(o.turnEnds) {
		o.turn++
		o.turnEnds = o.turnEnds.Add(nextQRLife)
	}
	return o.turn < len(o.codes)
}

// rotate puts a new secret into the QR codes. The phone that has scanned a code waits for the
// same code with the new secret, so that code is shown for a whole turn.
func (o *offer) rotate(e *events.RotateADVSecret, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.takeTurns(now) && o.turnEnds.Before(now.Add(nextQRLife)) {
		o.turnEnds = now.Add(nextQRLife)
	}
	return o.secrets.OnRotation(e)
}

// reset removes the codes of an old socket.
func (o *offer) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.codes, o.code, o.passkey, o.refusal = nil, "", nil, ""
}

// refuse records why there are no codes, until the next dial.
func (o *offer) refuse(sentence string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refusal = sentence
}

// refused returns why the network sends no codes for now, or "".
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

// age returns the age of the socket's QR codes, and false if there are none.
func (o *offer) age() (age time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Since(o.codesAt), len(o.codes) > 0
}

// setCode stores a pairing code and returns when it expires.
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

// pairingRounds is the number of sockets, each with codes for socketLife, after which an
// unrequested pairing rests. No official client opens sockets forever.
const pairingRounds = 5

// resting is the sentence of a resting pairing. Requesting the status ends the rest.
const resting = "pairing is paused, because no code was requested for a while: requesting the status or a pairing code resumes it, and the next status has a QR code"

// WakePairing records that codes are requested, and ends a pairing's rest.
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

// onAsked resets the count of sockets and ends a rest.
func (p *pairing) onAsked() {
	p.asked.Store(false)
	p.unasked = 0
	if p.phase == phaseHalted {
		p.m.forgetError(resting)
		p.renew(0)
	}
}
