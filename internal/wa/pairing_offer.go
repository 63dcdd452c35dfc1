package wa

import (
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// offer holds what an unpaired link has for somebody who wants to pair.
type offer struct {
	secrets *session.PairingSecrets

	mu          sync.Mutex // guards the fields below
	codes       []string   // QR codes of the present socket, which take turns
	codesAt     time.Time
	turn        int // which of them is shown
	turnEnds    time.Time
	code        string // the pairing code
	codeExpires time.Time
	passkey     *bridge.Passkey
	passkeyAt   time.Time
	paired      bool // the session is stored
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
		passkey := *o.passkey
		status.Passkey = &passkey
	}
}

// qr returns the QR code to show now, or nil. The caller holds mu.
func (o *offer) qr(now time.Time) *string {
	if o.paired || o.passkey != nil || !o.takeTurns(now) {
		return nil
	}
	code := o.secrets.InQR(o.codes[o.turn])
	return &code
}

// takeTurns finds whose turn it is, and reports whether there is a code left. The
// caller holds mu.
func (o *offer) takeTurns(now time.Time) bool {
	for o.turn < len(o.codes) && !now.Before(o.turnEnds) {
		o.turn++
		o.turnEnds = o.turnEnds.Add(nextQRLife)
	}
	return o.turn < len(o.codes)
}

// rotate puts a new secret into the QR codes. The phone that has just scanned one
// waits for the same code with the new secret, so that it stays for a whole turn.
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
	o.codes, o.code, o.passkey = nil, "", nil
}

func (o *offer) setCodes(codes []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.codes, o.codesAt, o.turn = codes, time.Now(), 0
	o.turnEnds = o.codesAt.Add(firstQRLife)
	o.secrets.OnCodes()
}

// age returns how old the socket's QR codes are, the sign that the network
// listens; ok is false while there are none.
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

// dropCode forgets the pairing code.
func (o *offer) dropCode() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.code = ""
}

func (o *offer) isPaired() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.paired
}

func (o *offer) setPaired() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paired = true
}
