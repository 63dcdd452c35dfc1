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

// onPasskeyRequest shows what the network wants signed.
func (m *Manager) onPasskeyRequest(p *pairing, e *events.PairPasskeyRequest) {
	options, err := json.Marshal(e.PublicKey)
	if err != nil {
		m.log.Error().Err(err).Msg("passkey request unreadable")
		return
	}
	m.mu.Lock()
	p.passkey, p.passkeyAt = &bridge.Passkey{PublicKey: options}, time.Now()
	m.mu.Unlock()
}

func (m *Manager) onPasskeyCode(p *pairing, e *events.PairPasskeyConfirmation) {
	m.mu.Lock()
	if p.passkey != nil {
		code := e.Code
		p.passkey.Code = &code
	}
	m.mu.Unlock()
}

// passkeyPairing is the pairing for which the network asked for a passkey.
func (m *Manager) passkeyPairing() (*pairing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pairing == nil || m.pairing.passkey == nil {
		return nil, bridge.Invalid("the network has not asked for a passkey: start a pairing first and wait until the status shows one")
	}
	return m.pairing, nil
}

// passkeyPending says whether somebody may still be at the authenticator.
func (m *Manager) passkeyPending(p *pairing) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.passkey != nil && time.Since(p.passkeyAt) < passkeyLife
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
	if err := p.link.cli.SendPasskeyResponse(ctx, &credential); err != nil {
		return bridge.PasskeyResult{}, passkeyError(err)
	}
	select {
	case confirmation := <-p.confirm:
		result := bridge.PasskeyResult{OK: true, Code: &confirmation.Code}
		if !confirmation.SkipHandoffUX {
			return result, nil
		}
		if err := p.link.cli.SendPasskeyConfirmation(ctx); err != nil {
			return bridge.PasskeyResult{}, passkeyError(err)
		}
		result.Confirmed = true
		return result, nil
	case <-ctx.Done():
		return bridge.PasskeyResult{OK: true}, nil
	}
}

// ConfirmPasskey says that a person has compared the two codes.
func (m *Manager) ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error) {
	p, err := m.passkeyPairing()
	if err != nil {
		return bridge.PasskeyResult{}, err
	}
	m.mu.Lock()
	code := p.passkey.Code
	m.mu.Unlock()
	if code == nil {
		return bridge.PasskeyResult{}, bridge.Invalid("there is no code to confirm yet: send the passkey first")
	}
	ctx, cancel := context.WithTimeout(ctx, passkeyWait)
	defer cancel()
	if err := p.link.cli.SendPasskeyConfirmation(ctx); err != nil {
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
