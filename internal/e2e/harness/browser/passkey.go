package browser

import (
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// passkey returns the id of a passkey, its user handle and its private key in PKCS #8.
type passkey interface {
	Export() (id, user, key []byte, err error)
}

// AtWhatsApp opens an empty page at the address of WhatsApp's site, in a browser that has a passkey. After the returned
// function, pages are the bridge's again.
func (b *Browser) AtWhatsApp(passkey passkey) (leave func()) {
	b.T.Helper()
	const site = "https://web.whatsapp.com"
	err := chromedp.Listen(b.ctx, func(event any) {
		if paused, ok := event.(*fetch.EventRequestPaused); ok {
			go func() { // the answer comes after the event
				page := fetch.FulfillRequestParams{RequestID: paused.RequestID, ResponseCode: 200, Body: []byte("<!DOCTYPE html><title>WhatsApp</title>")}
				_, _ = chromedp.Call(b.ctx, fetch.FulfillRequest, page) // fails with the navigation
			}()
		}
	})
	if err != nil {
		b.T.Fatal(err)
	}
	CallBrowser(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: site + "/*"}}})
	CallBrowser(b, webauthn.Enable, webauthn.EnableParams{})
	made := CallBrowser(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasCmtgKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	id, user, key, err := passkey.Export()
	if err != nil {
		b.T.Fatal(err)
	}
	CallBrowser(b, webauthn.AddCredential, webauthn.AddCredentialParams{AuthenticatorID: made.AuthenticatorID, Credential: &webauthn.Credential{
		CredentialID: id, UserHandle: user, PrivateKey: key, RpID: "whatsapp.com", IsResidentCredential: true, SignCount: 1,
	}})
	bridge := b.setBase(site)
	b.Open("/")
	return func() {
		b.T.Helper()
		b.setBase(bridge)
		CallBrowser(b, webauthn.Disable, cdp.Empty{})
		CallBrowser(b, fetch.Disable, cdp.Empty{})
	}
}

// setBase changes the address before the paths of pages, and returns the previous one.
func (b *Browser) setBase(base string) (previous string) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	previous, b.Base = b.Base, base
	return previous
}
