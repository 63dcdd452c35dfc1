package format

import (
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"bridged/internal/bridge"
)

const (
	secretPrefix = "whsec_"
	secretSize   = 32 // bytes of a new secret

	// The sizes that Standard Webhooks permits.
	minSecretSize = 24
	maxSecretSize = 64
)

// NewSecret returns a new signing secret, which every format accepts.
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

// Bridged is bridged's own format, signed according to Standard Webhooks
// (https://www.standardwebhooks.com). The header webhook-id identifies the event and is the same for every
// attempt.
type Bridged struct{}

// Check implements [Format].
func (Bridged) Check(w bridge.Webhook) error {
	o := w.Options
	if len(o.Events) > 0 || o.ByEvents || o.Base64 || o.VerifyToken != "" || o.Groups || o.GroupChats || o.OwnMessages {
		return bridge.Invalid("formatOptions: the format bridged has headers alone; types, chats and fromMe choose its events")
	}
	return CheckSecret(w.Secret)
}

// Posts implements [Format].
func (Bridged) Posts(d Delivery) ([]Post, error) {
	var p bridge.EventPayload
	switch d.Event.Type {
	case bridge.EventReset:
		p = bridge.ResetPayload(d.Event.ID, d.Event.At)
	case Test:
		p = bridge.EventPayload{Type: Test, Timestamp: bridge.At(d.Now), Data: struct {
			WebhookID int64 `json:"webhookId"`
		}{d.Webhook.ID}}
	default:
		p = d.Event.Payload()
	}
	body, err := bridge.EncodeJSON(p)
	if err != nil {
		return nil, err
	}
	signer, err := standardwebhooks.NewWebhook(d.Webhook.Secret)
	if err != nil {
		return nil, err
	}
	signature, err := signer.Sign(d.ID, d.Now, body)
	if err != nil {
		return nil, err
	}
	header := Header(d.Webhook)
	header.Set(standardwebhooks.HeaderWebhookID, d.ID)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(d.Now.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return []Post{{URL: d.Webhook.URL, Header: header, Body: body}}, nil
}
