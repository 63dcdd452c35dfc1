package simnet

import "bridged/internal/simnet/pairing"

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
