package pairing

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

	"bridged/internal/simnet/wire"
)

// EnterCode enters the pairing code of the last client that asked for one for a number, with the phone's identity. It returns the secret that
// both sides derive from it.
func (n *Desk) EnterCode(ctx context.Context, number, code string, identity *keys.KeyPair) (waiting *Pairing, secret []byte, err error) {
	code = strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(code), "-", ""))
	waiting, err = n.waitingForCode(number)
	if err != nil {
		return nil, nil, err
	}
	request := waiting.code
	ephemeral, err := unwrapPublic(code, request.wrapped)
	if err != nil {
		return nil, nil, err
	}
	own := keys.NewKeyPair()
	wrapped, err := wrapPublic(code, *own.Pub)
	if err != nil {
		return nil, nil, err
	}
	n.rotateIf(waiting, BeforeHello)
	waiting.send(Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "link_code_companion_reg", "id": string(request.ref[:12]), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "link_code_companion_reg", Attrs: attrs{"stage": "primary_hello"}, Content: []Node{
		{Tag: "link_code_pairing_ref", Content: request.ref},
		{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: wrapped},
		{Tag: "primary_identity_pub", Content: identity.Pub[:]},
	}}}})
	secret, err = waiting.finishByCode(ctx, identity, own, ephemeral)
	if err != nil {
		return nil, nil, err
	}
	n.rotateIf(waiting, BeforeSuccess)
	waiting.display = request.display
	return waiting, secret, nil
}

// waitingForCode returns the last client that asked for a code for a number.
func (n *Desk) waitingForCode(number string) (*Pairing, error) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	latest := n.codePairing(number)
	if latest == nil {
		return nil, ErrNoPairing
	}
	// Discard the client's stanza for an earlier attempt that was given up.
	select {
	case <-latest.finished:
	default:
	}
	return latest, nil
}

// WaitCode waits until a client has asked for a code for a number. Clients that generate the code themselves may show it before the network
// knows it.
func (n *Desk) WaitCode(ctx context.Context, number string) error {
	if err := n.Wait(ctx, func() bool { return n.codePairing(number) != nil }); err != nil {
		return fmt.Errorf("wait until a client asks for a code: %w", err)
	}
	return nil
}

// codePairing returns the last client that asked for a code for a number, or nil. The caller holds Mu.
func (n *Desk) codePairing(number string) (latest *Pairing) {
	for _, candidate := range n.pairings {
		if candidate.code == nil || candidate.code.number != number || candidate.gone() {
			continue
		}
		if latest == nil || candidate.code.asked > latest.code.asked {
			latest = candidate
		}
	}
	return latest
}

// finishByCode waits for the client's key bundle and derives the secret from it. Only this step detects a wrong code.
func (p *Pairing) finishByCode(ctx context.Context, identity, own *keys.KeyPair, ephemeral [32]byte) ([]byte, error) {
	bundle, err := await(ctx, p, p.finished)
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
	if [32]byte(plain[:32]) != p.identity || [32]byte(plain[32:64]) != *identity.Pub {
		return nil, errors.New("the key bundle names other identities")
	}
	identities, err := wire.ECDH(*identity.Priv, p.identity)
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
