package wa

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/session"
)

const (
	// socketLife is how long an unpaired socket and its pairing code live: six QR codes.
	socketLife  = firstQRLife + 5*nextQRLife
	firstQRLife = 60 * time.Second
	nextQRLife  = 20 * time.Second
	// codeTimeout limits the wait for a socket's QR codes.
	codeTimeout = 30 * time.Second
	// codelessSockets is the number of consecutive sockets without codes after which the status says
	// that the network refuses codes.
	codelessSockets = 2
	// longestCodeless limits the pauses between sockets without codes.
	longestCodeless = time.Minute
	// afterPairing limits the wait for the network's request to reconnect.
	afterPairing = 10 * time.Second
)

// pairing keeps an unpaired link open and renews its codes while callers request them.
type pairing struct {
	supervisor
	asked   atomic.Bool // a notice says that codes are requested
	unasked int         // sockets since codes were last requested
	offered bool        // codes were offered since the last dial
	closed  int         // consecutive sockets without codes
	relogin bool        // the network wants the paired client to log in
	offer   offer
	confirm chan events.PairPasskeyConfirmation
}

func (m *Manager) runPairing(ctx context.Context, device *session.Device) {
	l := m.newLink(ctx, device)
	p := &pairing{supervisor: newSupervisor(m, l), offer: offer{secrets: l.cli.PairingSecrets()}, confirm: make(chan events.PairPasskeyConfirmation, 1)}
	m.setPairing(p)
	defer m.setPairing(nil)
	m.setState(bridge.StateNeedsPair, "")
	if wait, sentence := m.loginPause.left(time.Now()); wait > 0 {
		p.refuse(sentence, wait)
	}
	p.run(ctx, p)
}

// onTimer dials, or replaces a socket whose codes have expired.
func (p *pairing) onTimer() bool {
	if p.offer.paired.Load() {
		return true
	}
	if awaited := p.offer.awaitedPasskey(); awaited != nil && time.Now().Before(awaited.ExpiresAt.Time) {
		p.timer.Reset(time.Until(awaited.ExpiresAt.Time))
		return false
	}
	if p.phase == phaseOffering {
		age, ok := p.offer.age()
		if !ok {
			p.noCodes()
			return false
		}
		if left := socketLife + dialTimeout - age; left > 0 { // codes of this socket may still be valid
			p.timer.Reset(left)
			return false
		}
	}
	if p.offered {
		if p.unasked++; p.unasked >= pairingRounds {
			p.rest()
			return false
		}
	}
	p.offered = false
	p.offer.reset()
	p.endDial()
	p.l.disconnect()
	p.connect(dialLimit)
	return false
}

func (p *pairing) onDialled(err error) {
	switch {
	case p.phase != phaseDialling: // abandoned
	case err != nil:
		p.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot connect for pairing")
		p.retry(unreachable)
	default:
		p.tries = 0
		p.offered = true
		p.enter(phaseOffering, codeTimeout)
	}
}

func (p *pairing) onNotice(n notice) bool {
	switch n.kind {
	case noticePaired: // emitted after the session is stored, possibly after the next notice
		if p.relogin {
			return true
		}
		p.timer.Reset(afterPairing)
	case noticeRelogin:
		p.relogin = true
		return p.offer.paired.Load()
	case noticeUnpaired:
		p.m.setState(bridge.StateNeedsPair, n.sentence)
		return true // whatsmeow may have deleted the device: start with a new one
	case noticeOutdated:
		p.m.setState(bridge.StateNeedsPair, p.m.refusedVersion()+"; looking for a newer one")
		wait, sentence := p.m.renewVersion(p.l.ctx)
		if wait == 0 {
			p.m.setState(bridge.StateNeedsPair, sentence)
			p.renew(0)
		} else {
			p.refuse(sentence, wait)
		}
	case noticeRefusedLogin, noticeHalted:
		p.refuse(n.sentence, max(n.after, longPause))
	case noticeThrottled:
		if wait, sentence := p.m.pauseLogins(n.code); wait > 0 {
			p.refuse(sentence, wait)
		}
	case noticeExpiry:
		p.m.noteExpiry(n.at, n.version)
	case noticeAsked:
		p.onAsked()
	case noticeDisconnected, noticeSilent:
		if p.offer.paired.Load() {
			return true
		}
		if p.phase == phaseHalted || p.phase == phaseWaiting {
			return false // the notice of an abandoned socket
		}
		if _, had := p.offer.age(); had {
			p.closed = 0
			p.retry("")
		} else {
			p.noCodes()
		}
	}
	return false
}

func (p *pairing) onCommand(c command) bool {
	switch c.kind {
	case commandRenewPairing:
		if !p.m.loginPaused() {
			p.renew(0)
		}
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

// retry schedules the next attempt after a failed or lost connection.
func (p *pairing) retry(sentence string) {
	p.m.setState(bridge.StateNeedsPair, sentence)
	p.tries++
	p.renew(pause(p.tries, 0))
}

// noCodes schedules the next attempt after a socket got no codes from the network.
func (p *pairing) noCodes() {
	p.closed++
	p.m.log.Warn().Int("sockets", p.closed).Msg("the network sent no code for pairing")
	switch {
	case p.closed < codelessSockets:
		p.renew(pairingPauseAfter(p.closed))
	case p.m.pairShallow():
		p.closed = 0
		p.m.setState(bridge.StateNeedsPair, p.m.shallowSentence())
		p.renew(0)
	default:
		p.refuse(noCodesSentence, pairingPauseAfter(p.closed))
	}
}

// refuse shows why the network refuses to pair, and waits before the next attempt.
func (p *pairing) refuse(sentence string, wait time.Duration) {
	p.m.setState(bridge.StateNeedsPair, sentence)
	p.renew(wait)
	p.offer.refuse(sentence)
}

// renew abandons the current socket with its codes and schedules the next.
func (p *pairing) renew(after time.Duration) {
	p.offer.reset()
	p.endDial()
	p.l.disconnect()
	p.schedule(after)
}

func (m *Manager) setPairing(p *pairing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pairing = p
}

// currentPairing returns the pairing of a link, or nil if the link has been replaced.
func (m *Manager) currentPairing(l *link) *pairing {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pairing == nil || m.pairing.l != l {
		return nil
	}
	return m.pairing
}

// onEvent handles events of the unpaired socket, in whatsmeow's goroutine.
func (p *pairing) onEvent(evt any) {
	switch e := evt.(type) {
	case *events.QR:
		p.offer.setCodes(e.Codes)
	case *events.RotateADVSecret:
		p.onRotation(e)
	case *events.PairPasskeyRequest:
		p.onPasskeyRequest(e)
	case *events.PairPasskeyConfirmation:
		select {
		case p.confirm <- *e:
		default:
		}
		p.offer.setPasskeyCode(e.Code)
	case *events.PairPasskeyError:
		p.m.log.Warn().Str("error", bridge.Redact(e.Error.Error())).Msg("pairing with a passkey failed")
		// Remedy: use the account's own passkey ([passkeys](#passkeys)).
		p.m.setState(bridge.StateNeedsPair, "the passkey was not accepted: start the pairing again")
	case *events.PairSuccess:
		p.onPaired(e)
	case *events.PairError:
		p.l.disconnected() // by whatsmeow
		p.offer.reset()    // codes that are requested now belong to the next socket
		p.l.notify(notice{kind: noticeUnpaired, sentence: p.m.pairErrorSentence(e)})
	case *events.ManualLoginReconnect:
		p.l.notify(notice{kind: noticeRelogin})
	case *events.QRScannedWithoutMultidevice:
		p.m.setState(bridge.StateNeedsPair, "the QR code was scanned by a phone without linked devices: update WhatsApp on it and try again")
	}
}

func (p *pairing) onRotation(e *events.RotateADVSecret) {
	if err := p.offer.rotate(e, time.Now()); err != nil {
		p.m.log.Error().Err(err).Msg("the network voided the QR code, and the new one is unknown")
		return
	}
	p.m.log.Info().Msg("the network voided the QR code; a new one is shown")
}

const codeRefusedSentence = "the network refused the pairing code that was entered on the phone: ask for a new code and enter that one"

// onCodeRefused removes a code that the network has refused.
func (p *pairing) onCodeRefused() {
	p.offer.dropCode()
	p.m.setState(bridge.StateNeedsPair, codeRefusedSentence)
}

func (p *pairing) onPaired(e *events.PairSuccess) {
	owner := bridge.Owner{PN: convert.JID(e.ID), LID: convert.JID(e.LID)}
	p.m.endSecurity() // of the previous session
	if err := p.m.store.Save(p.m.background, owner, bridge.Identity(owner)); err != nil {
		p.m.log.Error().Err(err).Msg("cannot store the owner; trying again at the login")
	}
	p.m.History.NotePaired(p.m.requestedHistory())
	p.m.clearError()
	p.m.log.Info().Str("platform", e.Platform).Msg("paired")
	p.offer.paired.Store(true)
	p.l.notify(notice{kind: noticePaired})
}

// mayPair decides about a pairing before whatsmeow completes it.
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
	if m.opts.PhoneNumber != "" && !m.sameAccount(ctx, bridge.Owner{PN: bridge.PhoneJID(m.opts.PhoneNumber)}, phone) {
		return bridge.Fail(bridge.CodeOtherAccount, "this bridge is configured (PHONE_NUMBER) for another account: scan with that account's phone, or change PHONE_NUMBER and restart")
	}
	owner, known, err := m.store.OwnerOf(ctx)
	if err != nil {
		return err
	}
	if known && !m.sameAccount(ctx, owner, phone) {
		return bridge.Fail(bridge.CodeOtherAccount, "the stored messages belong to another account: pair that account, or start with an empty DATA_DIR")
	}
	return nil
}

// warnOfOtherPhone logs that the session belongs to another account than PHONE_NUMBER. The session
// continues, because a change of the variable must not end it.
func (m *Manager) warnOfOtherPhone(ctx context.Context) {
	user := m.currentUser()
	if m.opts.PhoneNumber == "" || user.Phone == "" || m.sameAccount(ctx, bridge.Owner{PN: bridge.PhoneJID(m.opts.PhoneNumber)}, user.Phone) {
		return
	}
	m.log.Warn().Msg(bridge.OtherPhone(user.Phone, m.opts.PhoneNumber))
}

// sameAccount reports whether a number belongs to an account. Numbers may be as dialled or as
// WhatsApp knows them; LIDs of earlier sessions are compared, too.
func (m *Manager) sameAccount(ctx context.Context, account bridge.Owner, phone string) bool {
	other := bridge.Owner{PN: bridge.PhoneJID(phone)}
	if account.LID == "" {
		account.LID = m.lidOf(ctx, account.PN)
	}
	other.LID = m.lidOf(ctx, other.PN)
	return account.SameAccount(other)
}

// lidOf returns the LID of a number if the session database has it.
func (m *Manager) lidOf(ctx context.Context, pn bridge.JID) bridge.JID {
	lid, err := m.db.LIDOf(ctx, pn)
	if err != nil {
		m.log.Warn().Err(err).Msg("cannot read the LID of a number")
	}
	return lid
}

func (m *Manager) pairErrorSentence(e *events.PairError) string {
	if errors.Is(e.Error, whatsmeow.ErrPairRejectedLocally) {
		if err := m.refusal(m.background, e.ID.User); err != nil && bridge.CodeOf(err) == bridge.CodeOtherAccount {
			return err.Error()
		}
	}
	m.log.Warn().Str("error", bridge.Redact(e.Error.Error())).Msg("pairing failed")
	return "the pairing failed: request a new code and try again"
}
