package wa

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow"

	"bridged/internal/bridge"
)

const (
	pairingTries  = 50 // for a socket that is being replaced, with pairingPause in between
	pairingPause  = 100 * time.Millisecond
	freshSocket   = 20 * time.Second // an older socket is renewed for a new code
	pairingWait   = 15 * time.Second // for the unpaired socket to be ready
	pairingClient = "Chrome (Linux)" // the network validates the form "Browser (OS)"
)

// Pair asks the network for a pairing code for a phone number; an empty phone means the
// configured one. A new code makes the older one invalid.
//
// It fails with [bridge.CodeInvalid] if there is no usable number, with
// [bridge.CodeAlreadyPaired], [bridge.CodeOtherAccount], [bridge.CodeRateLimited], and with
// [bridge.CodeNotConnected] if the network cannot be reached.
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
		return bridge.PairingCode{}, bridge.Fail(bridge.CodeAlreadyPaired, "the account is already paired: log out first to pair again")
	}
	if err := m.refusal(ctx, phone); err != nil {
		return bridge.PairingCode{}, err
	}
	m.WakePairing()
	if err := m.renewRefused(ctx); err != nil {
		return bridge.PairingCode{}, err
	}
	p, code, err := m.askCode(ctx, phone)
	for tries := 0; errors.Is(err, whatsmeow.ErrNotConnected) && tries < pairingTries; tries++ {
		select { // the socket is being replaced
		case <-ctx.Done():
			return bridge.PairingCode{}, pairPhoneError(ctx.Err())
		case <-time.After(pairingPause):
		}
		p, code, err = m.askCode(ctx, phone)
	}
	if err != nil {
		return bridge.PairingCode{}, pairPhoneError(err)
	}
	m.forgetError(codeRefusedSentence)
	return bridge.PairingCode{
		Code: code, ExpiresAt: p.offer.setCode(code),
		Hint: "On the phone: WhatsApp > Linked devices > Link a device > Link with phone number instead, then enter the code.",
	}, nil
}

// askCode asks on a young socket, first for the number as dialled and then for its other
// spelling.
func (m *Manager) askCode(ctx context.Context, phone string) (*pairing, string, error) {
	p, err := m.freshPairing(ctx)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, pairingWait)
	defer cancel()
	for _, form := range append([]string{phone}, bridge.PhoneAliases(phone)...) {
		code, formErr := p.l.cli.PairPhone(ctx, form, true, whatsmeow.PairClientChrome, pairingClient)
		if formErr == nil {
			return p, code, nil
		}
		err = cmp.Or(err, formErr) // prefer the error for the number as dialled
		if !isNumberRefused(formErr) {
			break
		}
	}
	return p, "", err
}

// isNumberRefused reports whether the network refuses a pairing code for this number.
func isNumberRefused(err error) bool {
	var iq *whatsmeow.IQError
	return errors.As(err, &iq) && (iq.Code == 400 || iq.Code == 404)
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
	case isNumberRefused(err):
		return bridge.Invalid("the network refuses a pairing code for this phone number: is it the account's number, in E.164 digits?").Because(err)
	}
	return bridge.NotConnected("the network did not send a pairing code: try again in a moment").Because(err)
}

// readyPairing waits for an unpaired socket with QR codes. They show that the network is ready.
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
			if why := p.offer.refused(); why != "" {
				return nil, 0, bridge.NotConnected("%s", why)
			}
		}
		if paired {
			return nil, 0, bridge.Fail(bridge.CodeAlreadyPaired, "the account is already paired: log out first to pair again")
		}
		select {
		case <-ticker.C:
		case <-m.background.Done():
			return nil, 0, bridge.NotConnected("bridged is shutting down")
		case <-ctx.Done():
			if why := m.Status().LastError; why != nil && *why != codeRefusedSentence {
				return nil, 0, bridge.NotConnected("%s", *why).Because(ctx.Err())
			}
			return nil, 0, bridge.NotConnected("the network cannot be reached: try again in a moment").Because(ctx.Err())
		}
	}
}

// freshPairing returns an unpaired socket that is young enough for a new code to last.
func (m *Manager) freshPairing(ctx context.Context) (*pairing, error) {
	ctx, cancel := context.WithTimeout(ctx, pairingWait)
	defer cancel()
	p, age, err := m.readyPairing(ctx)
	if err != nil || age <= freshSocket {
		return p, err
	}
	if _, err := m.ask(ctx, commandRenewPairing); err != nil {
		return nil, bridge.NotConnected("the network cannot be reached: try again in a moment").Because(err)
	}
	p, _, err = m.readyPairing(ctx)
	return p, err
}
