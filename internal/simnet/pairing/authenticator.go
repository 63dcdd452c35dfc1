package pairing

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// relyingParty names the site of WhatsApp's passkeys.
const relyingParty = "whatsapp.com"

// Authenticator holds an account's passkey and signs like a security key or a password manager.
type Authenticator struct {
	credential []byte
	user       []byte
	key        *ecdsa.PrivateKey
}

// NewAuthenticator returns a new passkey.
func NewAuthenticator() (*Authenticator, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the passkey: %w", err)
	}
	return &Authenticator{credential: wire.Random(20), user: wire.Random(16), key: key}, nil
}

// Export returns the id of the passkey, its user handle and its private key in PKCS #8, for another authenticator.
func (a *Authenticator) Export() (id, user, key []byte, err error) {
	key, err = x509.MarshalPKCS8PrivateKey(a.key)
	return a.credential, a.user, key, err
}

// Sign returns the PublicKeyCredential for request options, both as JSON; the options are those of the client's event.
func (a *Authenticator) Sign(options []byte) ([]byte, error) {
	var request types.WebAuthnPublicKey
	if err := json.Unmarshal(options, &request); err != nil {
		return nil, fmt.Errorf("parse the request options: %w", err)
	}
	if len(request.Challenge) == 0 || request.RelyingPartID != relyingParty {
		return nil, errors.New("the request options have no challenge, or are for another site")
	}
	clientData, err := json.Marshal(map[string]any{
		"type": "webauthn.get", "challenge": base64.RawURLEncoding.EncodeToString(request.Challenge),
		"origin": "https://web.whatsapp.com", "crossOrigin": false,
	})
	if err != nil {
		return nil, fmt.Errorf("marshal the client data: %w", err)
	}
	site := sha256.Sum256([]byte(relyingParty))
	// User present and verified, signature counter 1.
	authenticatorData := append(site[:], 0x05, 0, 0, 0, 1)
	digest := assertionDigest(authenticatorData, clientData)
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		return nil, fmt.Errorf("sign the assertion: %w", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string]any{
		"id": encode(a.credential), "rawId": encode(a.credential), "type": "public-key",
		"authenticatorAttachment": "platform", "clientExtensionResults": map[string]any{},
		"response": map[string]any{
			"clientDataJSON": encode(clientData), "authenticatorData": encode(authenticatorData),
			"signature": encode(signature), "userHandle": encode(a.user),
		},
	})
}

func assertionDigest(authenticatorData, clientData []byte) [32]byte {
	hash := sha256.Sum256(clientData)
	return sha256.Sum256(append(append([]byte(nil), authenticatorData...), hash[:]...))
}

// verify checks, as the server, that this passkey signed the assertion over this challenge.
func (a *Authenticator) verify(challenge, credential, assertion []byte) error {
	var response types.WebAuthnResponse
	if err := json.Unmarshal(assertion, &response); err != nil {
		return fmt.Errorf("parse the assertion: %w", err)
	}
	if string(credential) != string(a.credential) || string(response.RawID) != string(a.credential) {
		return errors.New("the assertion is by another credential")
	}
	var clientData struct{ Type, Challenge, Origin string }
	if err := json.Unmarshal(response.Response.ClientDataJSON, &clientData); err != nil {
		return fmt.Errorf("parse the client data: %w", err)
	}
	if clientData.Type != "webauthn.get" || clientData.Challenge != base64.RawURLEncoding.EncodeToString(challenge) {
		return errors.New("the assertion is for another challenge")
	}
	digest := assertionDigest(response.Response.AuthenticatorData, response.Response.ClientDataJSON)
	if !ecdsa.VerifyASN1(&a.key.PublicKey, digest[:], response.Response.Signature) {
		return errors.New("the assertion's signature is wrong")
	}
	return nil
}
