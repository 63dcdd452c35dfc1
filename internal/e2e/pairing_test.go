package e2e

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// newOwner returns an account's phone on a new network.
func newOwner(t *testing.T, options simnet.PhoneOptions, network ...simnet.Options) (*simnet.Network, *simnet.Phone) {
	t.Helper()
	n := newNetwork(t, network...)
	options.Number, options.Name = "491510000001", "Olga"
	return n, newPhone(t, n, options)
}

func TestPairing_ByCode(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n, "DEVICE_NAME=The office")
	var code bridge.PairingCode
	b.Post("/api/auth/pair", object{"phone": "+" + owner.Number()}).Want(http.StatusOK).Decode(&code)
	if !regexp.MustCompile(`^[A-Z0-9]{4}-[A-Z0-9]{4}$`).MatchString(code.Code) {
		t.Errorf("code %q, want the form ABCD-EFGH", code.Code)
	}
	says(t, code.Hint, "Linked devices")
	if left := time.Until(code.ExpiresAt.Time); left < 2*time.Minute || left > 3*time.Minute {
		t.Errorf("the code expires in %v, want about 160 s", left)
	}
	device := must(owner.EnterPairingCode(within(t), code.Code))(t)
	b.becomes(bridge.StateOpen)
	if device.Platform() != "The office" || device.DisplayName() != "Chrome (Linux)" {
		t.Errorf("the phone lists %q (%s)", device.Platform(), device.DisplayName())
	}
}

func TestPairing_NewCodeVoidsTheOldOne(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n)
	first, second := b.code(owner), b.code(owner)
	if first == second {
		t.Fatalf("the same code twice: %s", first)
	}
	if got := orNone(b.status().PairingCode); got != second {
		t.Errorf("the status shows the code %s, want %s", got, second)
	}
	if _, err := owner.EnterPairingCode(within(t), first); !errors.Is(err, simnet.ErrWrongCode) {
		t.Errorf("the old code: %v", err)
	}
	must(owner.EnterPairingCode(within(t), b.code(owner)))(t)
	b.becomes(bridge.StateOpen)
}

func TestPairing_ByQR(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n)
	must(owner.HoldTo(within(t), b.qr))(t)
	if status := b.becomes(bridge.StateOpen); status.QR != nil || status.User.JID != bridge.JID(owner.PN().String()) {
		t.Errorf("after the scan: %+v", status)
	}
}

// A wrong code changes the device's secret and voids every QR code shown before,
// without any notification.
func TestPairing_ByQRAfterAWrongCode(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n)
	before := b.qr()
	b.code(owner)
	if _, err := owner.EnterPairingCode(within(t), "ABCD-EFGH"); !errors.Is(err, simnet.ErrWrongCode) {
		t.Fatalf("a wrong code: %v", err)
	}
	after := b.qr()
	if after == before {
		t.Error("the QR code shows the old secret")
	}
	must(owner.HoldTo(within(t), b.qr))(t)
	b.becomes(bridge.StateOpen)
}

// The network closes an unpaired socket after a while: the codes are renewed
// endlessly.
func TestPairing_QRCodesAreRenewed(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{}, simnet.Options{PairingTimeout: time.Second})
	b := startBridge(t, n)
	shown := map[string]bool{}
	eventually(t, func() error {
		shown[b.qr()] = true
		if len(shown) < 3 {
			return errors.New("fewer than three QR codes so far")
		}
		return nil
	})
	must(owner.HoldTo(within(t), b.qr))(t)
	b.becomes(bridge.StateOpen)
}

func TestPairing_WithPasskey(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(*testing.T, *process, *simnet.Phone) error{
		"by code": func(t *testing.T, b *process, owner *simnet.Phone) error {
			_, err := owner.EnterPairingCode(within(t), b.code(owner))
			return err
		},
		"by QR": func(t *testing.T, b *process, owner *simnet.Phone) error {
			_, err := owner.HoldTo(within(t), b.qr)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, owner := newOwner(t, simnet.PhoneOptions{PasskeyRequired: true})
			b := startBridge(t, n)
			b.becomes(bridge.StateNeedsPair)
			refused(t, b.Post("/api/auth/passkey", object{"confirm": true}), http.StatusBadRequest, bridge.CodeInvalid, "not asked for a passkey")
			linked := make(chan error, 1)
			go func() { linked <- link(t, b, owner) }()
			asked := b.passkeyRequest()
			if asked.Code != nil || b.status().QR != nil {
				t.Errorf("while the passkey is asked for: %+v", b.status())
			}
			refused(t, b.Post("/api/auth/passkey", object{"confirm": true}), http.StatusBadRequest, bridge.CodeInvalid, "no code to confirm")
			credential := must(owner.Passkey().Sign(asked.PublicKey))(t)
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
			if status := b.becomes(bridge.StateOpen); status.Passkey != nil {
				t.Errorf("open, and the status still asks for a passkey")
			}
		})
	}
}

// passkeyRequest waits until the network asks for a passkey.
func (p *process) passkeyRequest() (asked bridge.Passkey) {
	p.t.Helper()
	eventually(p.t, func() error {
		status := p.status()
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
	n, owner := newOwner(t, simnet.PhoneOptions{PasskeyRequired: true})
	thief := newPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Thief"})
	b := startBridge(t, n)
	linked := make(chan error, 1)
	go func() {
		_, err := owner.HoldTo(within(t), b.qr)
		linked <- err
	}()
	credential := must(thief.Passkey().Sign(b.passkeyRequest().PublicKey))(t)
	refused(t, b.Post("/api/auth/passkey", string(credential)), http.StatusBadRequest, bridge.CodeInvalid, "passkey")
	if err := <-linked; !errors.Is(err, simnet.ErrPasskeyRefused) {
		t.Errorf("linked with another's passkey: %v", err)
	}
	for _, body := range []any{object{}, object{"confirm": false}, object{"id": "x"}, object{"id": "x", "response": "y"}, object{"id": "x", "response": object{}}} {
		refused(t, b.Post("/api/auth/passkey", body), http.StatusBadRequest, bridge.CodeInvalid)
	}
}

func TestPairing_PhoneNumber(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	other := newPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Other"})

	t.Run("unset, it comes in the body", func(t *testing.T) {
		b := startBridge(t, n)
		for name, body := range map[string]any{
			"no body": nil, "an empty one": object{}, "an empty number": object{"phone": " "},
			"letters": object{"phone": "my phone"}, "no country code": object{"phone": "0151000001"}, "too short": object{"phone": "1234"},
			"too long": object{"phone": strings.Repeat("1", 16)}, "a number, not a string": object{"phone": 491510000001}, "no JSON": "{",
		} {
			resp := b.Post("/api/auth/pair", body)
			refused(t, resp, http.StatusBadRequest, bridge.CodeInvalid)
			if name != "no JSON" {
				says(t, resp.Error(), "phone")
			}
		}
	})
	t.Run("set, it needs no body and takes no other", func(t *testing.T) {
		b := startBridge(t, n, "PHONE_NUMBER="+owner.Number())
		refused(t, b.Post("/api/auth/pair", object{"phone": other.Number()}), http.StatusBadRequest, bridge.CodeInvalid, "phone", "PHONE_NUMBER")
		b.Post("/api/auth/pair", object{"phone": owner.Number()}).Want(http.StatusOK)

		var refusal *simnet.RefusedError
		if _, err := other.HoldTo(within(t), b.qr); !errors.As(err, &refusal) {
			t.Errorf("another account scanned the QR code: %v", err)
		}
		eventually(t, func() error {
			if b.status().LastError == nil {
				return errors.New("no lastError")
			}
			return nil
		})
		says(t, *b.status().LastError, "another account", "PHONE_NUMBER")

		var code bridge.PairingCode
		b.Post("/api/auth/pair", nil).Want(http.StatusOK).Decode(&code)
		must(owner.EnterPairingCode(within(t), code.Code))(t)
		if status := b.becomes(bridge.StateOpen); status.LastError != nil {
			t.Errorf("paired, but lastError is %q", *status.LastError)
		}
	})
}

func TestPairing_NetworkOutOfReach(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	n.Down()
	b := startBridge(t, n)
	refused(t, b.Post("/api/auth/pair", object{"phone": owner.Number()}), http.StatusServiceUnavailable, bridge.CodeNotConnected, "cannot be reached", "trying again")
	if status := b.status(); status.Status != bridge.StateNeedsPair || status.LastError == nil {
		t.Errorf("without a network: %+v", status)
	}
	n.Up()
	must(owner.Device(), owner.Device().WaitOnline(within(t)))(t)
	pair(t, b, owner)
}

func TestSession_UnlinkedOnThePhone(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n)
	owner.Unlink(pair(t, b, owner))
	status := b.becomes(bridge.StateNeedsPair)
	if status.HasSession || status.User != nil || status.LastError == nil {
		t.Fatalf("unlinked: %+v", status)
	}
	says(t, *status.LastError, "unlinked from the phone on "+time.Now().UTC().Format("2006-"), "pair again")
	pair(t, b, owner)
}

// Two clients of one session would replace each other forever, so the bridge waits
// for a person's decision.
func TestSession_ReplacedByAnotherClient(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n)
	device := pair(t, b, owner)
	device.Replace()
	status := b.becomes(bridge.StateClosed)
	if !status.HasSession || status.User == nil || status.LastError == nil {
		t.Fatalf("replaced: %+v", status)
	}
	says(t, *status.LastError, "another client", "/api/auth/reconnect")
	refused(t, b.Post("/api/messages/send", object{"jid": owner.PN().String(), "text": "hi"}), http.StatusServiceUnavailable, bridge.CodeNotConnected, "another client")
	b.Post("/api/auth/reconnect", nil).Want(http.StatusOK)
	b.becomes(bridge.StateOpen)
	if logins := device.Counters().Logins; logins != 2 {
		t.Errorf("%d logins, want 2: one for the pairing, one for the person", logins)
	}
}

func TestSession_ComesBackAfterAnOutage(t *testing.T) {
	t.Parallel()
	n, owner := newOwner(t, simnet.PhoneOptions{})
	b := startBridge(t, n)
	device := pair(t, b, owner)
	n.Down()
	if status := b.becomes(bridge.StateConnecting); !status.HasSession {
		t.Errorf("during an outage: %+v", status)
	}
	refused(t, b.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeNotConnected)
	n.Up()
	b.becomes(bridge.StateOpen)
	must(device, device.WaitOnline(within(t)))(t)
}

// withoutSecret returns a QR code without its secret: its ref and the keys.
func withoutSecret(code string) string {
	parts := strings.Split(code, ",")
	parts[3] = ""
	return strings.Join(parts, ",")
}
