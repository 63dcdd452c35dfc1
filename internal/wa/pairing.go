package wa

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

const (
	// socketLife is how long the network keeps an unpaired socket and with it a
	// pairing code: six QR codes, the first for 60 s, the others for 20 s.
	socketLife    = firstQRLife + 5*nextQRLife
	firstQRLife   = 60 * time.Second
	nextQRLife    = 20 * time.Second
	pairingTries  = 50               // for a socket that is being replaced, with retryPause between
	freshPairing  = 20 * time.Second // a socket older than this is renewed for a new code
	pairingWait   = 15 * time.Second // for the unpaired socket to be ready
	afterPairing  = 10 * time.Second // for the network to ask for the reconnection
	pairingClient = "Chrome (Linux)" // the network validates the form "Browser (OS)"
)

// pairing keeps an unpaired link open, renewing its codes without end, until
// the account is paired.
type pairing struct {
	supervisor
	relogin bool // the network has asked the paired client to log in
	offer   offer
	confirm chan events.PairPasskeyConfirmation
}

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

func (m *Manager) runPairing(ctx context.Context, device *store.Device) {
	l := m.newLink(ctx, device)
	p := &pairing{supervisor: newSupervisor(m, l), offer: offer{device: device}, confirm: make(chan events.PairPasskeyConfirmation, 1)}
	m.setPairing(p)
	defer m.setPairing(nil)
	m.setState(bridge.StateNeedsPair, "")
	p.run(ctx, p)
}

// onTimer dials, or replaces a socket whose codes have run out.
func (p *pairing) onTimer() bool {
	if p.offer.isPaired() {
		return true
	}
	if p.offer.awaitsPasskey() {
		p.timer.Reset(passkeyPatience)
		return false
	}
	p.offer.reset()
	p.l.disconnect()
	p.connect(socketLife + dialTimeout)
	return false
}

func (p *pairing) onDialled(err error) {
	switch {
	case p.phase != phaseDialling: // given up
	case hasFailed(err):
		p.m.log.Warn().Str("error", redact(err.Error())).Msg("connection for pairing failed")
		p.retry(unreachable)
	default:
		p.tries = 0
		p.phase = phaseOffering // until the timer goes off
	}
}

func (p *pairing) onNotice(n notice) bool {
	switch n.kind {
	case noticePaired: // told after the session is stored, so perhaps behind the next
		if p.relogin {
			return true
		}
		p.timer.Reset(afterPairing)
	case noticeRelogin:
		p.relogin = true
		return p.offer.isPaired()
	case noticeUnpaired:
		p.m.setState(bridge.StateNeedsPair, n.sentence)
		return true // whatsmeow may have deleted the device: begin with a new one
	case noticeOutdated:
		p.m.setState(bridge.StateNeedsPair, n.sentence)
		if p.m.lookUpVersion(p.l.ctx) {
			p.renew(0)
		} else {
			p.renew(refusedPause)
		}
	case noticeRefusedLogin, noticeHalted:
		p.m.setState(bridge.StateNeedsPair, n.sentence)
		p.renew(max(n.after, longPause))
	case noticeDisconnected, noticeSilent:
		if p.offer.isPaired() {
			return true
		}
		p.retry("")
	}
	return false
}

func (p *pairing) onCommand(c command) bool {
	switch c.kind {
	case commandRenewPairing:
		p.renew(0)
		c.done <- commandResult{}
	case commandLogout:
		c.done <- commandResult{}
	default:
		c.done <- commandResult{err: bridge.Fail(bridge.CodeNoSession, "there is no session to reconnect: pair the account first")}
	}
	return false
}

func (*pairing) onCheck() {}
func (*pairing) onLapse() {}

// retry plans the next try after a failed or lost connection.
func (p *pairing) retry(sentence string) {
	p.m.setState(bridge.StateNeedsPair, sentence)
	p.tries++
	p.renew(pause(p.tries, 0))
}

// renew gives up the present socket and what it offers, and plans the next.
func (p *pairing) renew(after time.Duration) {
	p.offer.reset()
	p.endDial()
	p.l.disconnect()
	p.schedule(after)
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

func (m *Manager) setPairing(p *pairing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pairing = p
}

// onPairing handles what the unpaired socket tells.
func (m *Manager) onPairing(l *link, evt any) {
	m.mu.Lock()
	p := m.pairing
	m.mu.Unlock()
	if p == nil || p.l != l {
		return
	}
	switch e := evt.(type) {
	case *events.QR:
		p.offer.setCodes(e.Codes)
	case *events.PairPasskeyRequest:
		p.onPasskeyRequest(e)
	case *events.PairPasskeyConfirmation:
		select {
		case p.confirm <- *e:
		default:
		}
		p.offer.setPasskeyCode(e.Code)
	case *events.PairPasskeyError:
		m.log.Warn().Str("error", redact(e.Error.Error())).Msg("passkey pairing failed")
		m.setState(bridge.StateNeedsPair, "the passkey was not accepted: start the pairing again")
	case *events.PairSuccess:
		m.onPaired(p, e)
	case *events.PairError:
		p.offer.reset() // a code that is asked for now is the next socket's
		l.notify(notice{kind: noticeUnpaired, sentence: m.pairErrorSentence(e)})
	case *events.ManualLoginReconnect:
		l.notify(notice{kind: noticeRelogin})
	case *events.QRScannedWithoutMultidevice:
		m.setState(bridge.StateNeedsPair, "the QR code was scanned by a phone without linked devices: update WhatsApp on it and try again")
	}
}

func (m *Manager) onPaired(p *pairing, e *events.PairSuccess) {
	owner := bridge.Owner{PN: toBridge(e.ID), LID: toBridge(e.LID)}
	if err := m.store.Save(m.background, owner, bridge.Identity(owner)); err != nil {
		m.log.Error().Err(err).Msg("owner not stored; trying again at the login")
	}
	m.clearError()
	m.log.Info().Str("platform", e.Platform).Msg("paired")
	p.offer.setPaired()
	p.l.notify(notice{kind: noticePaired})
}

// mayPair is called by whatsmeow before a pairing is completed.
func (m *Manager) mayPair(jid types.JID, _, _ string) bool {
	sentence := m.refusal(m.background, jid.User)
	if sentence != nil {
		m.log.Warn().Str("reason", sentence.Error()).Msg("pairing refused")
	}
	return sentence == nil
}

// refusal returns why the account with this number may not pair, or nil.
func (m *Manager) refusal(ctx context.Context, phone string) error {
	if err := m.opts.Watch.Check(); err != nil {
		return err // the new session would be lost
	}
	if m.opts.PhoneNumber != "" && phone != m.opts.PhoneNumber {
		return bridge.Fail(bridge.CodeOtherAccount, "this bridge is configured (PHONE_NUMBER) for another account: scan with that account's phone, or change PHONE_NUMBER and restart")
	}
	owner, known, err := m.store.OwnerOf(ctx)
	if err != nil {
		return err
	}
	if known && owner.PN.User() != phone {
		return bridge.Fail(bridge.CodeOtherAccount, "the stored messages belong to another account: pair that account, or start with an empty DATA_DIR")
	}
	return nil
}

func (m *Manager) pairErrorSentence(e *events.PairError) string {
	if errors.Is(e.Error, whatsmeow.ErrPairRejectedLocally) {
		if err := m.refusal(m.background, e.ID.User); err != nil && bridge.CodeOf(err) == bridge.CodeOtherAccount {
			return err.Error()
		}
	}
	m.log.Warn().Str("error", redact(e.Error.Error())).Msg("pairing failed")
	return "the pairing failed: request a new code and try again"
}

// Pair asks the network for a pairing code for the phone number, or for the
// configured one if it is empty. A new code makes the older one void.
//
// It fails with [bridge.CodeInvalid] without a usable number, with
// [bridge.CodeAlreadyPaired], [bridge.CodeOtherAccount], [bridge.CodeRateLimited],
// and with [bridge.CodeNotConnected] when the network cannot be reached.
func (m *Manager) Pair(ctx context.Context, phone string) (bridge.PairingCode, error) {
	if phone == "" {
		phone = m.opts.PhoneNumber
	}
	if phone == "" {
		return bridge.PairingCode{}, bridge.Invalid(`no phone number: set PHONE_NUMBER, or send {"phone": "<number in E.164 digits>"}`)
	}
	m.pairMu.Lock()
	defer m.pairMu.Unlock()
	if m.Status().User != nil {
		return bridge.PairingCode{}, bridge.Fail(bridge.CodeAlreadyPaired, "the account is paired already: log out first to pair anew")
	}
	if err := m.refusal(ctx, phone); err != nil {
		return bridge.PairingCode{}, err
	}
	p, code, err := m.askCode(ctx, phone)
	for tries := 0; errors.Is(err, whatsmeow.ErrNotConnected) && tries < pairingTries; tries++ {
		select { // the socket is just being replaced
		case <-ctx.Done():
			return bridge.PairingCode{}, pairPhoneError(ctx.Err())
		case <-time.After(retryPause):
		}
		p, code, err = m.askCode(ctx, phone)
	}
	if err != nil {
		return bridge.PairingCode{}, pairPhoneError(err)
	}
	return bridge.PairingCode{
		Code: code, ExpiresAt: p.offer.setCode(code),
		Hint: "On the phone: WhatsApp > Linked devices > Link a device > Link with phone number instead, then enter the code.",
	}, nil
}

// askCode asks on an unpaired socket that is young enough.
func (m *Manager) askCode(ctx context.Context, phone string) (*pairing, string, error) {
	p, err := m.freshPairing(ctx)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, pairingWait)
	defer cancel()
	code, err := p.l.cli.PairPhone(ctx, phone, true, whatsmeow.PairClientChrome, pairingClient)
	return p, code, err
}

func pairPhoneError(err error) error {
	var iq *whatsmeow.IQError
	var named *bridge.Error
	switch {
	case errors.As(err, &named):
		return named
	case errors.Is(err, whatsmeow.ErrPhoneNumberTooShort):
		return bridge.Invalid("the phone number is too short: use E.164 digits with the country code").Because(err)
	case errors.Is(err, whatsmeow.ErrPhoneNumberIsNotInternational):
		return bridge.Invalid("the phone number must begin with the country code, not with 0").Because(err)
	case errors.As(err, &iq) && iq.Code == 429:
		return &bridge.Error{Code: bridge.CodeRateLimited, Msg: "the network refuses more pairing codes for now: wait some minutes", Err: err, RetryAfter: 5 * time.Minute}
	case errors.As(err, &iq) && (iq.Code == 400 || iq.Code == 404):
		return bridge.Invalid("the network refuses a pairing code for this phone number: is it the account's number, in E.164 digits?").Because(err)
	}
	return bridge.NotConnected("the network did not give a pairing code: try again in a moment").Because(err)
}

// freshPairing returns an unpaired socket young enough for a code to live long.
func (m *Manager) freshPairing(ctx context.Context) (*pairing, error) {
	ctx, cancel := context.WithTimeout(ctx, pairingWait)
	defer cancel()
	p, age, err := m.readyPairing(ctx)
	if err != nil || age <= freshPairing {
		return p, err
	}
	if _, err := m.ask(ctx, commandRenewPairing); err != nil {
		return nil, bridge.NotConnected("the network cannot be reached: try again in a moment").Because(err)
	}
	p, _, err = m.readyPairing(ctx)
	return p, err
}

// readyPairing waits until there is an unpaired socket with QR codes, the sign
// that the network listens. At the start, and right after a logout, there is
// none for a moment.
func (m *Manager) readyPairing(ctx context.Context) (*pairing, time.Duration, error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		m.mu.Lock()
		p, paired := m.pairing, m.user != nil
		m.mu.Unlock()
		if p != nil {
			if age, ok := p.offer.age(); ok {
				return p, age, nil
			}
		}
		if paired {
			return nil, 0, bridge.Fail(bridge.CodeAlreadyPaired, "the account is paired already: log out first to pair anew")
		}
		select {
		case <-ticker.C:
		case <-m.background.Done():
			return nil, 0, bridge.NotConnected("bridged is shutting down")
		case <-ctx.Done():
			return nil, 0, bridge.NotConnected("the network cannot be reached: try again in a moment").Because(ctx.Err())
		}
	}
}
