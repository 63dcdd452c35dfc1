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
	passkeyWait = 20 * time.Second // for the phone's part of a pairing with a passkey
	passkeyLife = 5 * time.Minute  // whatsmeow's limit for the handoff proof
)

func (p *pairing) onPasskeyRequest(e *events.PairPasskeyRequest) {
	options, err := requestOptions(e.PublicKey)
	if err != nil {
		p.m.log.Error().Err(err).Msg("cannot encode the request for a passkey")
		return
	}
	p.offer.mu.Lock()
	defer p.offer.mu.Unlock()
	p.offer.passkey = &bridge.Passkey{PublicKey: options, ExpiresAt: bridge.At(time.Now().Add(passkeyLife))}
}

// requestOptions encodes the network's request as a browser parses it: lists that the network left out are empty, not null.
func requestOptions(key *types.WebAuthnPublicKey) (json.RawMessage, error) {
	options := *key
	options.AllowCredentials = make([]types.AllowedCredential, 0, len(key.AllowCredentials))
	for _, credential := range key.AllowCredentials {
		credential.Transports = append([]string{}, credential.Transports...)
		options.AllowCredentials = append(options.AllowCredentials, credential)
	}
	return json.Marshal(options)
}

func (o *offer) setPasskeyCode(code string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.passkey != nil {
		o.passkey.Code = &code
	}
}

// awaitedPasskey returns a copy of the network's request for a passkey, or nil.
func (o *offer) awaitedPasskey() *bridge.Passkey {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.passkey == nil {
		return nil
	}
	return new(*o.passkey)
}

// passkeyPairing returns the pairing that waits for a passkey, and the network's request.
func (m *Manager) passkeyPairing() (*pairing, *bridge.Passkey, error) {
	m.mu.Lock()
	p := m.pairing
	m.mu.Unlock()
	if p != nil {
		if passkey := p.offer.awaitedPasskey(); passkey != nil {
			return p, passkey, nil
		}
	}
	return nil, nil, bridge.Invalid("the network has not asked for a passkey: start a pairing first and wait until the status shows one")
}

// SubmitPasskey passes on an authenticator's answer (a WebAuthn PublicKeyCredential in JSON) and
// waits for the phone. It confirms the pairing unless codes must be compared.
func (m *Manager) SubmitPasskey(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error) {
	p, _, err := m.passkeyPairing()
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
	case <-p.confirm: // of an earlier attempt
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

// ConfirmPasskey completes a pairing after a person has compared the two codes.
func (m *Manager) ConfirmPasskey(ctx context.Context) (bridge.PasskeyResult, error) {
	p, passkey, err := m.passkeyPairing()
	if err != nil {
		return bridge.PasskeyResult{}, err
	}
	if passkey.Code == nil {
		return bridge.PasskeyResult{}, bridge.Invalid("there is no code to confirm yet: send the passkey first")
	}
	ctx, cancel := context.WithTimeout(ctx, passkeyWait)
	defer cancel()
	if err := p.l.cli.SendPasskeyConfirmation(ctx); err != nil {
		return bridge.PasskeyResult{}, passkeyError(err)
	}
	return bridge.PasskeyResult{OK: true, Code: passkey.Code, Confirmed: true}, nil
}

func passkeyError(err error) error {
	var iq *whatsmeow.IQError
	if errors.As(err, &iq) && iq.Code < 500 {
		return bridge.Invalid("the network did not accept the passkey").Because(err)
	}
	return bridge.NotConnected("bridged could not pass the passkey on: try again in a moment").Because(fmt.Errorf("passkey: %w", err))
}
