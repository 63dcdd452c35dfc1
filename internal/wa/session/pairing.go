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

// advSecret proves that a pairing is the one shown on the screen.
type advSecret [32]byte

// PairingSecrets keeps apart two secrets of one pairing: that of the QR codes, which the
// network voids once a phone has scanned one, and that of a pairing code or a passkey.
// whatsmeow has one place for both, device.AdvSecretKey: pair-code.go and pair-passkey.go
// overwrite the one of the QR codes, rotateADVSecret (pair.go) whatever is there, which
// would end a pairing by code with "hmac-mismatch".
//
// After a rotation a secret of the other kind is put back, and with pair-success the
// secret that it was made with.
type PairingSecrets struct {
	device *store.Device

	mu     sync.Mutex // guards the fields below
	qr     advSecret  // made for the QR codes last
	apart  bool       // the device has another one
	proved *advSecret // that pair-success was made with
}

// OnCodes notes the secret of new QR codes, which is the device's.
func (s *PairingSecrets) OnCodes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.qr, s.apart, s.proved = s.present(), false, nil
}

// OnRotation takes a new secret for the QR codes, and puts back one of another kind. It
// must be called by the event's handler.
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
	case s.present() != fresh:
		s.apart = true // derived from a code meanwhile
	case s.proved != nil:
		s.put(*s.proved)
	case other:
		s.put(former)
	}
	return nil
}

// onStanza puts the secret of a pair-success in place before whatsmeow handles it.
func (s *PairingSecrets) onStanza(node *waBinary.Node) {
	proof, ok := node.GetOptionalChildByTag("pair-success", "device-identity")
	if !ok {
		return
	}
	identity, _ := proof.Content.([]byte)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []advSecret{s.present(), s.qr} {
		if isProof(identity, secret) {
			s.put(secret)
			s.proved = &secret
			return
		}
	}
}

// InQR returns a QR code with the present secret; one of another form as it is.
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
		secret = s.present() // whatsmeow makes no event of one that a mistyped code made
	}
	parts[3] = base64.StdEncoding.EncodeToString(secret[:])
	return head + "#" + strings.Join(parts, ",")
}

// present copies the device's secret. whatsmeow replaces the slice without a lock; all
// values are of one length. The caller holds mu.
//
//go:norace
func (s *PairingSecrets) present() (secret advSecret) {
	for i := range min(len(s.device.AdvSecretKey), len(secret)) {
		secret[i] = s.device.AdvSecretKey[i]
	}
	return secret
}

// put makes a secret the device's. The caller holds mu.
//
//go:norace
func (s *PairingSecrets) put(secret advSecret) {
	if present := s.present(); present != secret {
		s.device.AdvSecretKey = bytes.Clone(secret[:])
	}
	s.apart = secret != s.qr
}

func decodeSecret(encoded string) (advSecret, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) != len(advSecret{}) {
		return advSecret{}, errors.New("a secret of the QR codes has another form than is known")
	}
	return advSecret(raw), nil
}

// isProof reports whether the identity in a pair-success was signed with a secret,
// as whatsmeow checks it (pair.go, handlePair).
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
