package session

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"sync"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"
)

// advSecret proves that a pairing belongs to the QR code or pairing code that was shown.
type advSecret [32]byte

// PairingSecrets separates two secrets of one pairing: the one of the QR codes, which the network
// voids after a phone has scanned one, and the one of a pairing code or a passkey. whatsmeow
// stores both in device.AdvSecretKey: pair-code.go and pair-passkey.go overwrite the secret of
// the QR codes, and rotateADVSecret (pair.go) overwrites either, which would end a pairing by
// code with "hmac-mismatch".
//
// After a rotation, a secret of the other kind is restored. With pair-success, the secret that it
// was made with is restored.
type PairingSecrets struct {
	device *store.Device

	mu     sync.Mutex // guards the fields from here on
	qr     advSecret  // the last secret for the QR codes
	apart  bool       // the device has the other secret
	proved *advSecret // the secret that pair-success was made with
}

// OnCodes records the secret of new QR codes from the device.
func (s *PairingSecrets) OnCodes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.qr, s.apart, s.proved = s.current(), false, nil
}

// OnRotation records a new secret for the QR codes and restores a secret of the other kind. Call
// it in the event's handler.
func (s *PairingSecrets) OnRotation(e *events.RotateADVSecret) error {
	former, errOld := decodeSecret(e.OldSecret)
	fresh, errNew := decodeSecret(e.NewSecret)
	if err := errors.Join(errOld, errNew); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	other := former != s.qr
	s.qr = fresh
	switch {
	case s.current() != fresh:
		s.apart = true // derived from a code in the meantime
	case s.proved != nil:
		s.put(*s.proved)
	case other:
		s.put(former)
	}
	return nil
}

// onStanza restores the secret of a pair-success before whatsmeow handles the stanza.
func (s *PairingSecrets) onStanza(node *waBinary.Node) {
	proof, ok := node.GetOptionalChildByTag("pair-success", "device-identity")
	if !ok {
		return
	}
	identity, _ := proof.Content.([]byte)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []advSecret{s.current(), s.qr} {
		if isProof(identity, secret) {
			s.put(secret)
			s.proved = &secret
			return
		}
	}
}

// InQR returns a QR code with the current secret. It returns codes in an unknown form unchanged.
func (s *PairingSecrets) InQR(code string) string {
	head, fields, found := strings.Cut(code, "#")
	parts := strings.Split(fields, ",")
	if !found || len(parts) != 5 {
		return code
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	secret := s.qr
	if !s.apart {
		secret = s.current() // whatsmeow emits no event for a secret from a mistyped code
	}
	parts[3] = base64.StdEncoding.EncodeToString(secret[:])
	return head + "#" + strings.Join(parts, ",")
}

// current copies the device's secret. whatsmeow replaces the slice without a lock, so it is read
// once: otherwise the copy could have bytes of both. All values have the same length. The caller
// holds mu.
//
//go:norace
func (s *PairingSecrets) current() (secret advSecret) {
	copy(secret[:], s.device.AdvSecretKey)
	return secret
}

// put sets the device's secret. The caller holds mu.
//
//go:norace
func (s *PairingSecrets) put(secret advSecret) {
	if present := s.current(); present != secret {
		s.device.AdvSecretKey = bytes.Clone(secret[:])
	}
	s.apart = secret != s.qr
}

func decodeSecret(encoded string) (advSecret, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) != len(advSecret{}) {
		return advSecret{}, errors.New("the secret of the QR codes has an unknown form")
	}
	return advSecret(raw), nil
}

// isProof reports whether the identity in a pair-success was signed with a secret. It repeats
// whatsmeow's check (pair.go, handlePair).
func isProof(identity []byte, secret advSecret) bool {
	var signed waAdv.ADVSignedDeviceIdentityHMAC
	if proto.Unmarshal(identity, &signed) != nil {
		return false
	}
	mac := hmac.New(sha256.New, secret[:])
	if signed.GetAccountType() == waAdv.ADVEncryptionType_HOSTED {
		mac.Write(whatsmeow.AdvHostedAccountSignaturePrefix)
	}
	mac.Write(signed.GetDetails())
	return hmac.Equal(mac.Sum(nil), signed.GetHMAC())
}
