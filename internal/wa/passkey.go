package wa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

const (
	passkeyWait     = 20 * time.Second // for the phone's part of a passkey pairing
	passkeyLife     = 5 * time.Minute  // whatsmeow's limit for the handoff proof
	passkeyPatience = 10 * time.Second // between looks at a passkey that is awaited
)

// onPasskeyRequest shows what the network wants signed.
func (p *pairing) onPasskeyRequest(e *events.PairPasskeyRequest) {
	options, err := json.Marshal(e.PublicKey)
	if err != nil {
		p.m.log.Error().Err(err).Msg("passkey request unreadable")
		return
	}
	p.offer.setPasskey(options)
}

func (o *offer) setPasskey(options json.RawMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.passkey, o.passkeyAt = &bridge.Passkey{PublicKey: options}, time.Now()
}

func (o *offer) setPasskeyCode(code string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.passkey != nil {
		o.passkey.Code = &code
	}
}

// passkeyCode returns the code to compare, or nil while it is not known.
func (o *offer) passkeyCode() *string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.passkey == nil {
		return nil
	}
	return o.passkey.Code
}

func (o *offer) hasPasskey() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.passkey != nil
}

// awaitsPasskey reports whether somebody may still be at the authenticator.
func (o *offer) awaitsPasskey() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.passkey != nil && time.Since(o.passkeyAt) < passkeyLife
}

// passkeyPairing returns the pairing for which the network asked for a passkey.
func (m *Manager) passkeyPairing() (*pairing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pairing == nil || !m.pairing.offer.hasPasskey() {
		return nil, bridge.Invalid("the network has not asked for a passkey: start a pairing first and wait until the status shows one")
	}
	return m.pairing, nil
}

// SubmitPasskey passes an authenticator's answer on (a WebAuthn
// PublicKeyCredential in JSON) and waits for the phone's part. Where nobody
// has to compare codes the pairing is confirmed at once.
func (m *Manager) SubmitPasskey(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error) {
	p, err := m.passkeyPairing()
	if err != nil {
		return bridge.PasskeyResult{}, err
	}
	var credential types.WebAuthnResponse
	if err := json.Unmarshal(response, &credential); err != nil {
		return bridge.PasskeyResult{}, bridge.Invalid("the body is not a PublicKeyCredential as JSON (base64url without padding)").Because(err)
	}
	if len(credential.RawID) == 0 || len(credential.Response.Signature) == 0 {
		return bridge.PasskeyResult{}, bridge.Invalid("the PublicKeyCredential needs rawId and response.signature")
	}
	select {
	case <-p.confirm: // of an earlier try
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, passkeyWait)
	defer cancel()
	if err := p.l.cli.SendPasskeyResponse(ctx, &credential); err != nil {
		return bridge.PasskeyResult{}, passkeyError(err)
	}
	select {
	case confirmation := <-p.confirm:
		result := bridge.PasskeyResult{OK: true, Code: &confirmation.Code}
		if !confirmation.SkipHandoffUX {
			return result, nil
		}
		if err := p.l.cli.SendPasskeyConfirmation(ctx); err != nil {
			return bridge.PasskeyResult{}, passkeyError(err)
		}
		result.Confirmed = true
		return result, nil
	case <-ctx.Done():
		return bridge.PasskeyResult{OK: true}, nil
	}
}

// ConfirmPasskey completes a pairing once a person has compared the two codes.
func (m *Manager) ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error) {
	p, err := m.passkeyPairing()
	if err != nil {
		return bridge.PasskeyResult{}, err
	}
	code := p.offer.passkeyCode()
	if code == nil {
		return bridge.PasskeyResult{}, bridge.Invalid("there is no code to confirm yet: send the passkey first")
	}
	ctx, cancel := context.WithTimeout(ctx, passkeyWait)
	defer cancel()
	if err := p.l.cli.SendPasskeyConfirmation(ctx); err != nil {
		return bridge.PasskeyResult{}, passkeyError(err)
	}
	return bridge.PasskeyResult{OK: true, Code: code, Confirmed: true}, nil
}

func passkeyError(err error) error {
	var iq *whatsmeow.IQError
	if errors.As(err, &iq) && iq.Code < 500 {
		return bridge.Invalid("the network did not accept the passkey").Because(err)
	}
	return bridge.NotConnected("the passkey could not be passed on: try again in a moment").Because(fmt.Errorf("passkey: %w", err))
}
