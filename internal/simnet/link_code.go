package simnet

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"go.mau.fi/whatsmeow/util/keys"

	"bridged/internal/simnet/pairing"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// EnterPairingCode enters the code that a client shows on the phone and returns the new device once it is linked.
// The device is not synced then: see WaitSynced.
func (p *Phone) EnterPairingCode(ctx context.Context, code string) (*people.Device, error) {
	code = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(code), "-", ""))
	waiting, err := p.waitingForCode()
	if err != nil {
		return nil, err
	}
	request := waiting.Code
	ephemeral, err := unwrapPublic(code, request.Wrapped)
	if err != nil {
		return nil, err
	}
	own := keys.NewKeyPair()
	wrapped, err := wrapPublic(code, *own.Pub)
	if err != nil {
		return nil, err
	}
	p.net.RotateIf(waiting, pairing.BeforeHello)
	waiting.Send(Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "link_code_companion_reg", "id": string(request.Ref[:12]), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "link_code_companion_reg", Attrs: attrs{"stage": "primary_hello"}, Content: []Node{
		{Tag: "link_code_pairing_ref", Content: request.Ref},
		{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: wrapped},
		{Tag: "primary_identity_pub", Content: p.identity.Pub[:]},
	}}}})
	secret, err := p.finishByCode(ctx, waiting, own, ephemeral)
	if err != nil {
		return nil, err
	}
	p.net.RotateIf(waiting, pairing.BeforeSuccess)
	return p.link(ctx, waiting, secret, request.Display)
}

// waitingForCode returns the client that asked for a code for this number last.
func (p *Phone) waitingForCode() (*pairing.Pairing, error) {
	p.net.Mu.Lock()
	defer p.net.Mu.Unlock()
	latest := p.codePairing()
	if latest == nil {
		return nil, ErrNoPairing
	}
	// What a client sent for an earlier try that was given up is worthless.
	select {
	case <-latest.Finished:
	default:
	}
	return latest, nil
}

// WaitCodeRequest waits until a client has asked for a code for this number. Clients that make the code themselves may show it before
// the network has it.
func (p *Phone) WaitCodeRequest(ctx context.Context) error {
	if err := p.net.Wait(ctx, func() bool { return p.codePairing() != nil }); err != nil {
		return fmt.Errorf("wait until a client asks for a code: %w", err)
	}
	return nil
}

// codePairing returns the client that asked for a code for this number last, nil if there is none. The caller holds Server.mu.
func (p *Phone) codePairing() (latest *pairing.Pairing) {
	for _, candidate := range p.net.Pairings {
		if candidate.Code == nil || candidate.Code.Number != p.Account.PhoneNumber || candidate.Gone() {
			continue
		}
		if latest == nil || candidate.Code.Asked > latest.Code.Asked {
			latest = candidate
		}
	}
	return latest
}

// finishByCode waits for the client's key bundle and derives the secret from it. A wrong code is noticed only here.
func (p *Phone) finishByCode(ctx context.Context, waiting *pairing.Pairing, own *keys.KeyPair, ephemeral [32]byte) ([]byte, error) {
	bundle, err := await(ctx, waiting, waiting.Finished)
	if err != nil {
		return nil, err
	}
	if len(bundle) < 32+12 {
		return nil, fmt.Errorf("key bundle of %d bytes", len(bundle))
	}
	shared, err := wire.ECDH(*own.Priv, ephemeral)
	if err != nil {
		return nil, ErrWrongCode
	}
	key := hkdfutil.SHA256(shared, bundle[:32], []byte("link_code_pairing_key_bundle_encryption_key"), 32)
	plain, err := gcmutil.Decrypt(key, bundle[32:44], bundle[44:], nil)
	if err != nil || len(plain) != 96 {
		return nil, ErrWrongCode
	}
	if [32]byte(plain[:32]) != waiting.Identity || [32]byte(plain[32:64]) != *p.identity.Pub {
		return nil, errors.New("the key bundle names other identities")
	}
	identities, err := wire.ECDH(*p.identity.Priv, waiting.Identity)
	if err != nil {
		return nil, fmt.Errorf("combine the identities: %w", err)
	}
	input := append(append(append([]byte(nil), shared...), identities...), plain[64:]...)
	return hkdfutil.SHA256(input, nil, []byte("adv_secret"), 32), nil
}

func codeCipher(code string, wrapped []byte) (cipher.Stream, error) {
	key, err := pbkdf2.Key(sha256.New, code, wrapped[:32], 2<<16, 32)
	if err != nil {
		return nil, fmt.Errorf("derive the code's key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the code's key: %w", err)
	}
	return cipher.NewCTR(block, wrapped[32:48]), nil
}

func unwrapPublic(code string, wrapped []byte) (public [32]byte, err error) {
	stream, err := codeCipher(code, wrapped)
	if err != nil {
		return public, err
	}
	stream.XORKeyStream(public[:], wrapped[48:80])
	return public, nil
}

func wrapPublic(code string, public [32]byte) ([]byte, error) {
	wrapped := append(wire.Random(48), public[:]...)
	stream, err := codeCipher(code, wrapped)
	if err != nil {
		return nil, err
	}
	stream.XORKeyStream(wrapped[48:], wrapped[48:])
	return wrapped, nil
}
