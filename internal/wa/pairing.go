package wa

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

const (
	// codeLife is how long the network keeps an unpaired socket and with it a
	// pairing code: six QR codes, the first for 60 s, the others for 20 s.
	codeLife        = firstQRLife + 5*nextQRLife
	firstQRLife     = 60 * time.Second
	nextQRLife      = 20 * time.Second
	pairingTries    = 50               // for a socket that is being replaced, with retryPause between
	freshPairing    = 20 * time.Second // a socket older than this is renewed for a new code
	pairingWait     = 15 * time.Second // for the unpaired socket to be ready
	passkeyWait     = 20 * time.Second // for the phone's part of a passkey pairing
	passkeyLife     = 5 * time.Minute  // whatsmeow's limit for the handoff proof
	passkeyPatience = 10 * time.Second // between looks at a passkey that is awaited
	afterPairing    = 10 * time.Second // for the network to ask for the reconnection
	pairingClient   = "Chrome (Linux)" // the network validates the form "Browser (OS)"
)

// pairing is the unpaired link and what it offers. Manager.mu guards all
// fields but link.
type pairing struct {
	link        *link
	codes       []string // QR codes of the present socket
	codesAt     time.Time
	code        string
	codeExpires time.Time
	passkey     *bridge.Passkey
	passkeyAt   time.Time
	confirm     chan events.PairPasskeyConfirmation
	paired      bool
}

// qr is the QR code to show now; nil when there is none. The caller holds Manager.mu.
func (p *pairing) qr(now time.Time) *string {
	if len(p.codes) == 0 || p.paired || p.passkey != nil {
		return nil
	}
	index := 0
	if age := now.Sub(p.codesAt); age >= firstQRLife {
		index = 1 + int((age-firstQRLife)/nextQRLife)
	}
	if index >= len(p.codes) {
		return nil
	}
	code := withPresentSecret(p.codes[index], p.link.cli.Store)
	return &code
}

// runPairing keeps an unpaired socket open, renewing its codes without end,
// until the account is paired.
func (m *Manager) runPairing(ctx context.Context, device *store.Device) {
	l := m.newLink(ctx, device)
	p := &pairing{link: l, confirm: make(chan events.PairPasskeyConfirmation, 1)}
	m.setPairing(p)
	defer m.setPairing(nil)
	defer l.end()
	m.setState(bridge.StateNeedsPair, "")

	dialled := make(chan error, 1)
	timer := time.NewTimer(0)
	defer timer.Stop()
	tries, relogin := 0, false
	again := func(after time.Duration) {
		m.resetPairing(p)
		l.disconnect()
		timer.Reset(after)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			if m.pairingDone(p) {
				return
			}
			if m.passkeyPending(p) {
				timer.Reset(passkeyPatience)
				continue
			}
			m.resetPairing(p)
			l.disconnect() // an old socket whose codes have run out
			timer.Reset(codeLife + dialTimeout)
			go func() { dialled <- l.cli.ConnectContext(l.ctx) }()
		case err := <-dialled:
			if err != nil && !errors.Is(err, whatsmeow.ErrAlreadyConnected) {
				m.log.Warn().Str("error", redact(err.Error())).Msg("connection for pairing failed")
				m.setState(bridge.StateNeedsPair, unreachable)
				tries++
				again(pause(tries, 0))
				continue
			}
			tries = 0
		case s := <-l.signals:
			switch s.kind {
			case signalPaired: // told after the session is stored, so perhaps behind the next
				if relogin {
					return
				}
				timer.Reset(afterPairing)
			case signalRelogin:
				if m.pairingDone(p) {
					return
				}
				relogin = true
			case signalUnpaired:
				m.setState(bridge.StateNeedsPair, s.sentence)
				return // whatsmeow may have deleted the device: begin with a new one
			case signalOutdated:
				m.setState(bridge.StateNeedsPair, s.sentence)
				if m.lookUpVersion(ctx) {
					again(0)
				} else {
					again(refusedPause)
				}
			case signalRefusedLogin, signalHalted:
				m.setState(bridge.StateNeedsPair, s.sentence)
				again(max(s.after, longPause))
			case signalDisconnected, signalSilent:
				if m.pairingDone(p) {
					return
				}
				tries++
				again(pause(tries, 0))
			}
		case c := <-m.commands:
			switch c.kind {
			case commandRenewPairing:
				again(0)
				c.done <- commandResult{}
			case commandLogout:
				c.done <- commandResult{}
			default:
				c.done <- commandResult{err: bridge.Fail(bridge.CodeNoSession, "there is no session to reconnect: pair the account first")}
			}
		}
	}
}

func (m *Manager) setPairing(p *pairing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pairing = p
}

// resetPairing forgets what an old socket offered.
func (m *Manager) resetPairing(p *pairing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.codes, p.code, p.passkey = nil, "", nil
}

func (m *Manager) pairingDone(p *pairing) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.paired
}

// onPairing handles what the unpaired socket tells.
func (m *Manager) onPairing(l *link, evt any) {
	m.mu.Lock()
	p := m.pairing
	m.mu.Unlock()
	if p == nil || p.link != l {
		return
	}
	switch e := evt.(type) {
	case *events.QR:
		m.mu.Lock()
		p.codes, p.codesAt = e.Codes, time.Now()
		m.mu.Unlock()
	case *events.PairPasskeyRequest:
		m.onPasskeyRequest(p, e)
	case *events.PairPasskeyConfirmation:
		select {
		case p.confirm <- *e:
		default:
		}
		m.onPasskeyCode(p, e)
	case *events.PairPasskeyError:
		m.log.Warn().Str("error", redact(e.Error.Error())).Msg("passkey pairing failed")
		m.setState(bridge.StateNeedsPair, "the passkey was not accepted: start the pairing again")
	case *events.PairSuccess:
		m.onPaired(p, e)
	case *events.PairError:
		m.resetPairing(p) // whoever asks for a code now gets it from the next socket
		l.tell(signal{kind: signalUnpaired, sentence: m.pairErrorSentence(e)})
	case *events.ManualLoginReconnect:
		l.tell(signal{kind: signalRelogin})
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
	m.mu.Lock()
	p.paired = true
	m.mu.Unlock()
	p.link.tell(signal{kind: signalPaired})
}

// mayPair is whatsmeow's question before a pairing is completed.
func (m *Manager) mayPair(jid types.JID, _, _ string) bool {
	sentence := m.refusal(m.background, jid.User)
	if sentence != nil {
		m.log.Warn().Str("reason", sentence.Error()).Msg("pairing refused")
	}
	return sentence == nil
}

// refusal says why the account with this number may not pair; nil if it may.
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
	m.mu.Lock()
	p.code, p.codeExpires = code, p.codesAt.Add(codeLife)
	expires := bridge.At(p.codeExpires)
	m.mu.Unlock()
	return bridge.PairingCode{
		Code: code, ExpiresAt: expires,
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
	code, err := p.link.cli.PairPhone(ctx, phone, true, whatsmeow.PairClientChrome, pairingClient)
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

// freshPairing is an unpaired socket young enough for a code to live long.
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
		if p := m.pairing; p != nil && len(p.codes) > 0 {
			age := time.Since(p.codesAt)
			m.mu.Unlock()
			return p, age, nil
		}
		paired := m.user != nil
		m.mu.Unlock()
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
