package simnet

import (
	"context"

	"bridged/internal/simnet/pairing"
)

// EnterPairingCode enters a client's pairing code on the phone and returns the new device once it is linked, but not yet synced: see
// WaitSynced.
func (p *Phone) EnterPairingCode(ctx context.Context, code string) (*Device, error) {
	waiting, secret, err := p.net.EnterCode(ctx, p.Number(), code, p.identity)
	if err != nil {
		return nil, err
	}
	return p.link(ctx, waiting, secret)
}

// WaitCodeRequest waits until a client has asked for a code for this number. Clients that generate the code themselves may show it before the
// network knows it.
func (p *Phone) WaitCodeRequest(ctx context.Context) error { return p.net.WaitCode(ctx, p.Number()) }

// link makes a client a device of the account, after both sides have agreed on a secret.
func (p *Phone) link(ctx context.Context, waiting *pairing.Pairing, secret []byte) (*Device, error) {
	// The companion expects the account's app state. If it came into being later, its announcement would overtake the key.
	if _, err := p.beginAppState(ctx); err != nil {
		return nil, err
	}
	if p.passkeyRequired() {
		var err error
		secret, err = p.net.DemandPasskey(ctx, waiting, p.passkey, secret, p.showConfirmation)
		p.showConfirmation("")
		if err != nil {
			return nil, err
		}
	}
	d, err := p.net.Link(ctx, p.Account, waiting, p.identity, secret)
	if err != nil {
		return nil, err
	}
	// From now on all senders have to know the new device.
	return d, p.net.settle(ctx, p.net.allPhones())
}

// Passkey returns the account's authenticator.
func (p *Phone) Passkey() *pairing.Authenticator { return p.passkey }

// RequirePasskey sets whether the network asks for the account's passkey when a device is linked.
func (p *Phone) RequirePasskey(required bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.needPasskey = required
}

func (p *Phone) passkeyRequired() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.needPasskey
}

// ConfirmationCode returns the code that the phone shows for comparison with the client's while a device is linked with a passkey, or "".
func (p *Phone) ConfirmationCode() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.confirmation
}

func (p *Phone) showConfirmation(code string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.confirmation = code
}
