package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

// maxURL limits the length of an address.
const maxURL = 2048

// check refuses a webhook that could never work.
func (d *Dispatcher) check(ctx context.Context, w bridge.Webhook) error {
	if err := d.checkForm(w); err != nil || !w.AllowPrivate || w.Source == bridge.WebhookFromEnvironment {
		return err
	}
	if err := d.private.Check(ctx, w.URL); err != nil {
		return bridge.Invalid("allowPrivate: %s; the operator names what is in WEBHOOK_ALLOW_PRIVATE", reason(err))
	}
	return nil
}

// checkForm refuses settings that can be judged without the network. The operator who
// sets the environment owns the network.
func (d *Dispatcher) checkForm(w bridge.Webhook) error {
	if err := CheckURL(w.URL); err != nil {
		return err
	}
	if err := CheckSecret(w.Secret); err != nil {
		return err
	}
	switch {
	case w.Source == bridge.WebhookFromEnvironment:
		return nil
	case w.AllowPrivate && d.private == nil:
		return bridge.Invalid("allowPrivate: no private receivers are permitted; the operator names them in WEBHOOK_ALLOW_PRIVATE")
	case w.AllowPrivate:
		return nil
	}
	if err := d.guard.Check(w.URL); err != nil {
		return bridge.Invalid("url: %s; a receiver in one's own network needs allowPrivate", reason(err))
	}
	return nil
}

func reason(err error) string {
	if refused, ok := err.(*urlguard.Error); ok {
		return refused.Reason
	}
	return err.Error()
}

// CheckURL refuses a URL that cannot be a receiver's.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return bridge.Invalid("url is required")
	case len(raw) > maxURL:
		return bridge.Invalid("url is longer than %d characters", maxURL)
	case err != nil: // its words would repeat the address
		return bridge.Invalid("url is malformed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return bridge.Invalid("url must begin with http:// or https:// and name a host")
	case u.User != nil:
		return bridge.Invalid("url must not carry a user name or password: it is shown to whoever may list webhooks")
	}
	return nil
}

const (
	secretPrefix = "whsec_"
	secretSize   = 32 // bytes of a new secret

	// The sizes that Standard Webhooks permits.
	minSecretSize = 24
	maxSecretSize = 64
)

// NewSecret makes a signing secret.
func NewSecret() string {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// CheckSecret refuses a secret that Standard Webhooks does not permit.
func CheckSecret(secret string) error {
	encoded, found := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) < minSecretSize || len(key) > maxSecretSize {
		return bridge.Invalid("the secret must be %s and the base64 of %d to %d bytes, for example from: "+
			`echo "%s$(openssl rand -base64 %d)"`, secretPrefix, minSecretSize, maxSecretSize, secretPrefix, secretSize)
	}
	return nil
}
