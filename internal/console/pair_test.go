package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// The page for linking shows the QR code, the pairing code and its expiry.
func TestPair_ShowsItsCodes(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/auth/status": replies(`{"status":"needs-pair","since":"2026-11-21T08:15:30.000Z","qr":"2@abc","pairingCode":"ABCD-1234","pairingCodeExpiresAt":"2026-11-21T12:02:40.000Z"}`),
	})
	s.logIn()
	page := s.get("/console/pair").want(t, http.StatusOK, "").body
	for _, want := range []string{`aria-label="QR code"`, ">ABCD-1234<", `data-until="2026-11-21T12:02:40.000Z"`, ">13:02</time>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
