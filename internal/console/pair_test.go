package console_test

import (
	"fmt"
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

// A request for a passkey is shown with its script and its end, and then with the code to compare.
func TestPair_ShowsAPasskeysSteps(t *testing.T) {
	t.Parallel()
	const status = `{"status":"needs-pair","since":"2026-11-21T08:15:30.000Z","passkey":{"publicKey":{"challenge":"YWJj"},"expiresAt":"2026-11-21T12:02:40.000Z","code":%s}}`
	for code, wants := range map[string][]string{
		`null`:        {`})({&#34;challenge&#34;:&#34;YWJj&#34;});`, `name="credential"`, `data-until="2026-11-21T12:02:40.000Z"`, ">13:02</time>"},
		`"K4PZ-9XQ2"`: {">K4PZ-9XQ2<", `name="confirm"`, `data-until="2026-11-21T12:02:40.000Z"`},
	} {
		s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/auth/status": replies(fmt.Sprintf(status, code))})
		s.logIn()
		page := s.get("/console/pair").want(t, http.StatusOK, "").body
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("with the code %s the page lacks %q", code, want)
			}
		}
	}
}
