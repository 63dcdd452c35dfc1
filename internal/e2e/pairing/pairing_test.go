package pairing

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

func TestPairing_ByCode(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n, "DEVICE_NAME=The office")
	var code bridge.PairingCode
	b.Post("/api/auth/pair", Object{"phone": "+" + owner.Number()}).Want(http.StatusOK).Decode(&code)
	if !regexp.MustCompile(`^[A-Z0-9]{4}-[A-Z0-9]{4}$`).MatchString(code.Code) {
		t.Errorf("code %q, want the form ABCD-EFGH", code.Code)
	}
	Says(t, code.Hint, "Linked devices")
	if left := time.Until(code.ExpiresAt.Time); left < 2*time.Minute || left > 3*time.Minute {
		t.Errorf("the code expires in %v, want about 160 s", left)
	}
	device := Must(owner.EnterPairingCode(Within(t), code.Code))(t)
	b.Becomes(bridge.StateOpen)
	if device.Platform() != "The office" || device.DisplayName() != "Chrome (Linux)" {
		t.Errorf("the phone lists %q (%s)", device.Platform(), device.DisplayName())
	}
}

func TestPairing_NewCodeVoidsTheOldOne(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	first, second := b.Code(owner), b.Code(owner)
	if first == second {
		t.Fatalf("the same code twice: %s", first)
	}
	if got := OrNone(b.Status().PairingCode); got != second {
		t.Errorf("the status shows the code %s, want %s", got, second)
	}
	if _, err := owner.EnterPairingCode(Within(t), first); !errors.Is(err, simnet.ErrWrongCode) {
		t.Errorf("the old code: %v", err)
	}
	Must(owner.EnterPairingCode(Within(t), b.Code(owner)))(t)
	b.Becomes(bridge.StateOpen)
}

func TestPairing_ByQR(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	Must(owner.HoldTo(Within(t), b.QR))(t)
	if status := b.Becomes(bridge.StateOpen); status.QR != nil || status.User.JID != bridge.JID(owner.PN().String()) {
		t.Errorf("after the scan: %+v", status)
	}
}

// A wrong code changes the device's secret and voids every QR code shown before,
// without any notification.
func TestPairing_ByQRAfterAWrongCode(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	before := b.QR()
	b.Code(owner)
	if _, err := owner.EnterPairingCode(Within(t), "ABCD-EFGH"); !errors.Is(err, simnet.ErrWrongCode) {
		t.Fatalf("a wrong code: %v", err)
	}
	after := b.QR()
	if after == before {
		t.Error("the QR code shows the old secret")
	}
	Must(owner.HoldTo(Within(t), b.QR))(t)
	b.Becomes(bridge.StateOpen)
}

// The network closes an unpaired socket after a while: the codes are renewed
// endlessly.
func TestPairing_QRCodesAreRenewed(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{}, simnet.Options{PairingTimeout: time.Second})
	b := StartBridge(t, n)
	shown := map[string]bool{}
	Eventually(t, func() error {
		shown[b.QR()] = true
		if len(shown) < 3 {
			return errors.New("fewer than three QR codes so far")
		}
		return nil
	})
	Must(owner.HoldTo(Within(t), b.QR))(t)
	b.Becomes(bridge.StateOpen)
}

func TestPairing_WithPasskey(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(*testing.T, *Process, *simnet.Phone) error{
		"by code": func(t *testing.T, b *Process, owner *simnet.Phone) error {
			_, err := owner.EnterPairingCode(Within(t), b.Code(owner))
			return err
		},
		"by QR": func(t *testing.T, b *Process, owner *simnet.Phone) error {
			_, err := owner.HoldTo(Within(t), b.QR)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, owner := NewOwner(t, simnet.PhoneOptions{PasskeyRequired: true})
			b := StartBridge(t, n)
			b.Becomes(bridge.StateNeedsPair)
			Refused(t, b.Post("/api/auth/passkey", Object{"confirm": true}), http.StatusBadRequest, bridge.CodeInvalid, "not asked for a passkey")
			linked := make(chan error, 1)
			go func() { linked <- link(t, b, owner) }()
			asked := passkeyRequest(b)
			if asked.Code != nil || b.Status().QR != nil {
				t.Errorf("while the passkey is asked for: %+v", b.Status())
			}
			Refused(t, b.Post("/api/auth/passkey", Object{"confirm": true}), http.StatusBadRequest, bridge.CodeInvalid, "no code to confirm")
			credential := Must(owner.Passkey().Sign(asked.PublicKey))(t)
			var result bridge.PasskeyResult
			b.Post("/api/auth/passkey", string(credential)).Want(http.StatusOK).Decode(&result)
			// The link was requested moments ago, so that no person has to compare
			// codes.
			if !result.OK || !result.Confirmed || result.Code == nil {
				t.Errorf("the passkey was answered with %+v", result)
			}
			if err := <-linked; err != nil {
				t.Fatal(err)
			}
			if status := b.Becomes(bridge.StateOpen); status.Passkey != nil {
				t.Errorf("open, and the status still asks for a passkey")
			}
		})
	}
}

// passkeyRequest waits until the network asks for a passkey.
func passkeyRequest(p *Process) (asked bridge.Passkey) {
	p.T.Helper()
	Eventually(p.T, func() error {
		status := p.Status()
		if status.Passkey == nil {
			return errors.New("no passkey asked for")
		}
		asked = *status.Passkey
		return nil
	})
	return asked
}

func TestPairing_WrongPasskeyIsRefused(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{PasskeyRequired: true})
	thief := NewPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Thief"})
	b := StartBridge(t, n)
	linked := make(chan error, 1)
	go func() {
		_, err := owner.HoldTo(Within(t), b.QR)
		linked <- err
	}()
	credential := Must(thief.Passkey().Sign(passkeyRequest(b).PublicKey))(t)
	Refused(t, b.Post("/api/auth/passkey", string(credential)), http.StatusBadRequest, bridge.CodeInvalid, "passkey")
	if err := <-linked; !errors.Is(err, simnet.ErrPasskeyRefused) {
		t.Errorf("linked with another's passkey: %v", err)
	}
	for _, body := range []any{Object{}, Object{"confirm": false}, Object{"id": "x"}, Object{"id": "x", "response": "y"}, Object{"id": "x", "response": Object{}}} {
		Refused(t, b.Post("/api/auth/passkey", body), http.StatusBadRequest, bridge.CodeInvalid)
	}
}

func TestPairing_PhoneNumber(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	other := NewPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Other"})

	t.Run("unset, it comes in the body", func(t *testing.T) {
		b := StartBridge(t, n)
		for name, body := range map[string]any{
			"no body": nil, "an empty one": Object{}, "an empty number": Object{"phone": " "},
			"letters": Object{"phone": "my phone"}, "no country code": Object{"phone": "0151000001"}, "too short": Object{"phone": "1234"},
			"too long": Object{"phone": strings.Repeat("1", 16)}, "a number, not a string": Object{"phone": 491510000001}, "no JSON": "{",
		} {
			resp := b.Post("/api/auth/pair", body)
			Refused(t, resp, http.StatusBadRequest, bridge.CodeInvalid)
			if name != "no JSON" {
				Says(t, resp.Error(), "phone")
			}
		}
	})
	t.Run("set, it needs no body and takes no other", func(t *testing.T) {
		b := StartBridge(t, n, "PHONE_NUMBER="+owner.Number())
		Refused(t, b.Post("/api/auth/pair", Object{"phone": other.Number()}), http.StatusBadRequest, bridge.CodeInvalid, "phone", "PHONE_NUMBER")
		b.Post("/api/auth/pair", Object{"phone": owner.Number()}).Want(http.StatusOK)

		var refusal *simnet.RefusedError
		if _, err := other.HoldTo(Within(t), b.QR); !errors.As(err, &refusal) {
			t.Errorf("another account scanned the QR code: %v", err)
		}
		Eventually(t, func() error {
			if b.Status().LastError == nil {
				return errors.New("no lastError")
			}
			return nil
		})
		Says(t, *b.Status().LastError, "another account", "PHONE_NUMBER")

		var code bridge.PairingCode
		b.Post("/api/auth/pair", nil).Want(http.StatusOK).Decode(&code)
		Must(owner.EnterPairingCode(Within(t), code.Code))(t)
		if status := b.Becomes(bridge.StateOpen); status.LastError != nil {
			t.Errorf("paired, but lastError is %q", *status.LastError)
		}
	})
}

func TestPairing_NetworkOutOfReach(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	n.Down()
	b := StartBridge(t, n)
	Refused(t, b.Post("/api/auth/pair", Object{"phone": owner.Number()}), http.StatusServiceUnavailable, bridge.CodeNotConnected, "cannot be reached", "trying again")
	if status := b.Status(); status.Status != bridge.StateNeedsPair || status.LastError == nil {
		t.Errorf("without a network: %+v", status)
	}
	n.Up()
	Must(owner.Device(), owner.Device().WaitOnline(Within(t)))(t)
	Pair(t, b, owner)
}

func TestSession_UnlinkedOnThePhone(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	owner.Unlink(Pair(t, b, owner))
	status := b.Becomes(bridge.StateNeedsPair)
	if status.HasSession || status.User != nil || status.LastError == nil {
		t.Fatalf("unlinked: %+v", status)
	}
	Says(t, *status.LastError, "unlinked from the phone on "+time.Now().UTC().Format("2006-"), "pair again")
	Pair(t, b, owner)
}

// Two clients of one session would replace each other forever, so the bridge waits
// for a person's decision.
func TestSession_ReplacedByAnotherClient(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	device := Pair(t, b, owner)
	device.Replace()
	status := b.Becomes(bridge.StateClosed)
	if !status.HasSession || status.User == nil || status.LastError == nil {
		t.Fatalf("replaced: %+v", status)
	}
	Says(t, *status.LastError, "another client", "/api/auth/reconnect")
	Refused(t, b.Post("/api/messages/send", Object{"jid": owner.PN().String(), "text": "hi"}), http.StatusServiceUnavailable, bridge.CodeNotConnected, "another client")
	b.Post("/api/auth/reconnect", nil).Want(http.StatusOK)
	b.Becomes(bridge.StateOpen)
	if logins := device.Counters().Logins; logins != 2 {
		t.Errorf("%d logins, want 2: one for the pairing, one for the person", logins)
	}
}

func TestSession_ComesBackAfterAnOutage(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	device := Pair(t, b, owner)
	n.Down()
	if status := b.Becomes(bridge.StateConnecting); !status.HasSession {
		t.Errorf("during an outage: %+v", status)
	}
	Refused(t, b.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeNotConnected)
	n.Up()
	b.Becomes(bridge.StateOpen)
	Must(device, device.WaitOnline(Within(t)))(t)
}
