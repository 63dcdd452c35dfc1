package wa

import (
	"sync"
	"time"

	"go.mau.fi/whatsmeow/store"

	"bridged/internal/bridge"
)

// offer holds what an unpaired link has for somebody who wants to pair.
type offer struct {
	device *store.Device

	mu          sync.Mutex // guards the fields below
	codes       []string   // QR codes of the present socket
	codesAt     time.Time
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
	if len(o.codes) == 0 || o.paired || o.passkey != nil {
		return nil
	}
	index := 0
	if age := now.Sub(o.codesAt); age >= firstQRLife {
		index = 1 + int((age-firstQRLife)/nextQRLife)
	}
	if index >= len(o.codes) {
		return nil
	}
	code := withPresentSecret(o.codes[index], o.device)
	return &code
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
	o.codes, o.codesAt = codes, time.Now()
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
