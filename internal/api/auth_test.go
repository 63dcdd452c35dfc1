package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestHealthz_IsOpen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.account.closed()
	var body struct {
		OK bool
		TS bridge.Time
	}
	s.WithToken("").Get("/healthz").Want(http.StatusOK).Decode(&body)
	if !body.OK || body.TS.IsZero() {
		t.Errorf("body %+v", body)
	}
}

func TestAuthStatus_ShowsEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	code, qr, sorry := "ABCD-EFGH", "2@abc,def", "unlinked from the phone; pair again"
	expires := bridge.At(noon)
	s.account.status = func() bridge.Status {
		return bridge.Status{
			Status: bridge.StateNeedsPair, PairingCode: &code, PairingCodeExpiresAt: &expires, LastError: &sorry,
			Since: bridge.At(noon), QR: &qr, Passkey: &bridge.Passkey{PublicKey: json.RawMessage(`{"challenge":"abc"}`), ExpiresAt: bridge.At(noon)},
			NewChats:       &bridge.NewChatQuota{Status: bridge.QuotaCapped, Total: new(50), Used: new(50), CycleEndsAt: &expires},
			SecurityNotice: &bridge.SecurityNotice{Kind: bridge.SecurityTakenOver, At: expires, Message: "register the number again"},
			CatchingUp:     &bridge.CatchingUp{Received: 5, Expected: 711}, PausedUntil: &expires,
			ClientVersion: bridge.ClientVersion{Current: "2.3000.1", ExpiresAt: &expires},
		}
	}
	var got map[string]any
	s.Get("/api/auth/status").Want(http.StatusOK).Decode(&got)
	want := map[string]any{
		"status": "needs-pair", "hasSession": false, "user": nil,
		"pairingCode": code, "pairingCodeExpiresAt": "2026-11-21T12:00:00.000Z", "lastError": sorry,
		"since": "2026-11-21T12:00:00.000Z", "qr": qr,
		"passkey":        map[string]any{"publicKey": map[string]any{"challenge": "abc"}, "expiresAt": bridge.At(noon).String(), "code": nil},
		"newChats":       map[string]any{"status": "capped", "total": 50.0, "used": 50.0, "cycleStartsAt": nil, "cycleEndsAt": "2026-11-21T12:00:00.000Z"},
		"securityNotice": map[string]any{"kind": "device_logout", "at": "2026-11-21T12:00:00.000Z", "message": "register the number again"},
		"catchingUp":     map[string]any{"received": 5.0, "expected": 711.0},
		"pausedUntil":    "2026-11-21T12:00:00.000Z", "clientVersion": map[string]any{"current": "2.3000.1", "expiresAt": "2026-11-21T12:00:00.000Z"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Only GET /api/auth/status resumes a pairing that has stopped: probes and metrics are requested all
// the time.
func TestAuthStatus_ResumesPairing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/chats"} {
		s.Get(path)
	}
	if n := s.account.woken.Load(); n != 0 {
		t.Errorf("woken %d times by probes", n)
	}
	s.Get("/api/auth/status").Want(http.StatusOK)
	if n := s.account.woken.Load(); n != 1 {
		t.Errorf("woken %d times by a request for the status", n)
	}
}

func TestPair_TakesTheNumberFromConfigurationOrBody(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, configured string
		body             any
		status           int
		phone            string
	}{
		{"configured, no body", "15551234567", nil, 200, "15551234567"},
		{"configured, same in body", "15551234567", `{"phone":"15551234567"}`, 200, "15551234567"},
		{"configured, other in body", "15551234567", `{"phone":"447700900123"}`, 400, ""},
		{"configured, body without phone", "15551234567", `{}`, 200, "15551234567"},
		{"not configured, in body", "", `{"phone":"15551234567"}`, 200, "15551234567"},
		{"not configured, with plus", "", `{"phone":"+15551234567"}`, 200, "15551234567"},
		{"not configured, no body", "", nil, 400, ""},
		{"not configured, empty object", "", `{}`, 400, ""},
		{"as people write it", "", `{"phone":" +1 (555) 123-4567"}`, 200, "15551234567"},
		{"with 00, same as configured", "15551234567", `{"phone":"001.555.123.4567"}`, 200, "15551234567"},
		{"words", "", `{"phone":"call me"}`, 400, ""},
		{"too short", "", `{"phone":"123"}`, 400, ""},
		{"national form", "", `{"phone":"07700900123"}`, 400, ""},
		{"a number", "", `{"phone":15551234567}`, 400, ""},
		{"not JSON", "15551234567", `phone=1`, 400, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, paired(test.configured))
			var asked string
			accept := s.account.pair
			s.account.pair = func(ctx context.Context, phone string) (bridge.PairingCode, error) {
				asked = phone
				return accept(ctx, phone)
			}
			s.Post("/api/auth/pair", test.body).Want(test.status)
			if asked != test.phone {
				t.Errorf("a code was requested for %q, want %q", asked, test.phone)
			}
		})
	}
}

func TestPair_AnswersCodeHintAndExpiry(t *testing.T) {
	t.Parallel()
	s := newServer(t, paired("15551234567"))
	var got map[string]any
	s.Post("/api/auth/pair", nil).Want(http.StatusOK).Decode(&got)
	want := map[string]any{"code": "ABCD-EFGH", "hint": "type it on the phone", "expiresAt": "2026-11-21T12:00:00.000Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPair_RefusalsOfTheAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t, paired("15551234567"))
	for code, status := range map[bridge.Code]int{
		bridge.CodeAlreadyPaired: 409, bridge.CodeOtherAccount: 409, bridge.CodeNotConnected: 503, bridge.CodeRateLimited: 429,
	} {
		s.account.pair = func(context.Context, string) (bridge.PairingCode, error) {
			return bridge.PairingCode{}, bridge.Fail(code, "no")
		}
		if got := s.Post("/api/auth/pair", nil).Want(status); got.Code() != string(code) {
			t.Errorf("code %q, want %q", got.Code(), code)
		}
	}
}

func TestPasskey_HasTwoSteps(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	credential := `{"id":"abc","rawId":"abc","type":"public-key","authenticatorAttachment":"platform","clientExtensionResults":{},"response":{"signature":"c2ln"}}`
	var submitted string
	accept := s.account.submitPasskey
	s.account.submitPasskey = func(ctx context.Context, response json.RawMessage) (bridge.PasskeyResult, error) {
		submitted = string(response)
		return accept(ctx, response)
	}
	var got map[string]any
	s.Do(http.MethodPost, "/api/auth/passkey", credential, "Prefer", "handling=strict").Want(http.StatusOK).Decode(&got) // as the console calls
	if diff := cmp.Diff(map[string]any{"ok": true, "code": "K4PZ-9XQ2", "confirmed": false}, got); diff != "" {
		t.Error(diff)
	}
	if submitted != credential {
		t.Errorf("submitted %q, want the unchanged body", submitted)
	}
	s.Post("/api/auth/passkey", `{"confirm":true}`).Want(http.StatusOK).Decode(&got)
	if diff := cmp.Diff(map[string]any{"ok": true, "code": nil, "confirmed": true}, got); diff != "" {
		t.Error(diff)
	}
	for _, body := range []string{``, `{}`, `{"confirm":false}`, `{"confirm":"yes"}`, `{"id":"abc"}`, `{"id":"abc","response":"x"}`, `{"id":1,"response":{}}`} {
		s.Post("/api/auth/passkey", body).Want(http.StatusBadRequest)
	}
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var got map[string]any
	s.Post("/api/auth/reconnect", nil).Want(http.StatusOK).Decode(&got)
	if diff := cmp.Diff(map[string]any{"ok": true}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLogout_NeedsConfirmation(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	wiped := 0
	s.account.logout = func(context.Context) (bool, error) { wiped++; return wiped == 1, nil }
	for _, confirm := range []string{"", "no", "true", "yes please"} {
		if got := s.Post("/api/auth/logout", nil, "X-Confirm-Wipe", confirm).Want(http.StatusBadRequest); got.Code() != "invalid_request" {
			t.Errorf("code %q", got.Code())
		}
	}
	s.Post("/api/auth/logout", nil).Want(http.StatusBadRequest)
	if wiped != 0 {
		t.Fatal("wiped without confirmation")
	}
	for _, unlinked := range []bool{true, false} {
		var got map[string]any
		s.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK).Decode(&got)
		if diff := cmp.Diff(map[string]any{"ok": true, "unlinked": unlinked}, got); diff != "" {
			t.Error(diff)
		}
	}
}
