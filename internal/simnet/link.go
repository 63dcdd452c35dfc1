package simnet

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/pairing"
	"bridged/internal/simnet/people"
)

var (
	// ErrNoPairing is returned when nobody has asked for a code for this number, or the QR code is not known any more.
	ErrNoPairing = errors.New("nobody waits to be linked with this code")
	// ErrWrongCode is returned for a pairing code other than the one the client shows.
	ErrWrongCode = errors.New("the pairing code is wrong")
	// ErrBadQR is returned for a text that is no QR code of a client.
	ErrBadQR = errors.New("this is no linking QR code")
	// ErrClientGone is returned when the client hangs up before it is linked.
	ErrClientGone = errors.New("the client hung up while it was being linked")
)

// await waits for something from a client that is being linked.
func await[T any](ctx context.Context, waiting *pairing.Pairing, from <-chan T) (value T, err error) {
	select {
	case value = <-from:
		return value, nil
	case <-waiting.Done():
		return value, ErrClientGone
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// link makes a client a device of the account, once both sides have the same secret.
func (p *Phone) link(ctx context.Context, waiting *pairing.Pairing, secret []byte, display string) (*people.Device, error) {
	// A companion finds the account's app state there; one that comes later would be announced to it before it has the key.
	if _, err := p.beginAppState(ctx); err != nil {
		return nil, err
	}
	if p.passkeyRequired() {
		var err error
		if secret, err = p.demandPasskey(ctx, waiting, secret); err != nil {
			return nil, err
		}
	}
	d, err := p.net.Reserve(p.Account, waiting, display)
	if err != nil {
		return nil, err
	}
	identity, err := p.signIdentity(d, secret)
	if err != nil {
		return nil, err
	}
	if err := p.net.AwaitRotated(ctx, waiting); err != nil {
		return nil, err
	}
	p.net.SendPairSuccess(waiting, d, identity)
	refused, err := await(ctx, waiting, waiting.Answered)
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	p.net.Adopt(waiting, d)
	// Everybody who writes from now on must know the new device.
	return d, p.net.settle(ctx, p.net.allPhones())
}

// signIdentity signs a device's identity with the account's key.
func (p *Phone) signIdentity(d *people.Device, secret []byte) ([]byte, error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID:     proto.Uint32(uint32(d.Number) + 1000),
		Timestamp: proto.Uint64(uint64(time.Now().Unix())),
		KeyIndex:  proto.Uint32(d.KeyIndex),
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the device identity: %w", err)
	}
	message := append(append(append([]byte(nil), whatsmeow.AdvAccountSignaturePrefix...), details...), d.Identity[:]...)
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*p.identity.Priv), message)
	signed, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{
		Details: details, AccountSignatureKey: p.identity.Pub[:], AccountSignature: signature[:],
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the signed identity: %w", err)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(signed)
	return proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: mac.Sum(nil)})
}
