package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"bridged/internal/bridge"
)

const (
	secretPrefix = "whsec_"
	secretSize   = 32 // bytes of a new secret

	// What Standard Webhooks asks of secrets.
	minSecretSize = 24
	maxSecretSize = 64
)

// newSecret makes a signing secret.
func newSecret() string {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// CheckSecret refuses what receivers could not check signatures with.
func CheckSecret(secret string) error {
	encoded, found := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil || len(key) < minSecretSize || len(key) > maxSecretSize {
		return bridge.Invalid("the secret must be %s and the base64 of %d to %d bytes, for example from: "+
			`echo "%s$(openssl rand -base64 %d)"`, secretPrefix, minSecretSize, maxSecretSize, secretPrefix, secretSize)
	}
	return nil
}
