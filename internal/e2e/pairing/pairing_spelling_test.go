package pairing

import (
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestPairing_NumbersWithTwoSpellings: in some countries WhatsApp's spelling of an
// account's number differs from the dialled one, for which it refuses a pairing
// code. PHONE_NUMBER as dialled pairs nevertheless, by code and by QR code, and the
// account shows WhatsApp's spelling.
func TestPairing_NumbersWithTwoSpellings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		number, dialled string
		refusal         int
	}{
		"Brazil without the ninth digit": {"553187654321", "5531987654321", 404},
		"Brazil with the ninth digit":    {"5511987654321", "551187654321", 400},
		"Mexico":                         {"5215512345678", "525512345678", 404},
		"Argentina":                      {"5491123456789", "541123456789", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := NewNetwork(t)
			n.RefuseNumbers(c.refusal, "refused")
			owner := NewPhone(t, n, simnet.PhoneOptions{Number: c.number, Name: "Olga"})
			b := StartBridge(t, n, "PHONE_NUMBER="+c.dialled)
			Refused(t, b.Post("/api/auth/pair", Object{"phone": "4915112345678"}), http.StatusBadRequest, bridge.CodeInvalid, "PHONE_NUMBER")
			pairs := func(body any) {
				t.Helper()
				var code bridge.PairingCode
				b.Post("/api/auth/pair", body).Want(http.StatusOK).Decode(&code)
				Must(owner.EnterPairingCode(Within(t), code.Code))(t)
				status := b.Becomes(bridge.StateOpen)
				if status.LastError != nil || status.User == nil || status.User.Phone != c.number {
					t.Errorf("paired as %+v, lastError %v", status.User, status.LastError)
				}
			}
			pairs(nil)
			b.Restart() // the store belongs to this account
			b.Becomes(bridge.StateOpen)
			b.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK)
			b.Becomes(bridge.StateNeedsPair)
			pairs(Object{"phone": c.number})
			b.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK)
			Must(owner.HoldTo(Within(t), b.QR))(t)
			b.Becomes(bridge.StateOpen)
		})
	}
}

// TestPairing_UnknownNumber: the error names the number as given.
func TestPairing_UnknownNumber(t *testing.T) {
	t.Parallel()
	n := NewNetwork(t)
	b := StartBridge(t, n)
	for _, number := range []string{"5531987654321", "491510000009"} {
		Refused(t, b.Post("/api/auth/pair", Object{"phone": number}), http.StatusBadRequest, bridge.CodeInvalid, "is it the account's number")
	}
}
