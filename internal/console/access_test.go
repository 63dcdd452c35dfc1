package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bridged/internal/console"
)

// A visitor with a limited token reads which rights are missing, not how to configure the service.
func TestAccess_LimitedTokensShowTheirRights(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *console.Options) { o.EnableSend = true })
	s.try("brt_LIMITED").want(t, http.StatusSeeOther, "/console/")
	const limits = "You have access to one chat. Your token doesn’t allow sending."
	first := s.get("/console/chats").want(t, http.StatusOK, "")
	if !strings.Contains(first.body, limits) || !strings.Contains(first.body, `action="/console/logout"`) {
		t.Errorf("the first page:\n%s", first.body)
	}
	if again := s.get("/console/chats").body; strings.Contains(again, limits) {
		t.Error("it is said on every page")
	}
	settings := s.get("/console/settings").want(t, http.StatusOK, "").body
	for _, want := range []string{limits, `action="/console/theme"`, `action="/console/logout"`, ">desk<", "1 555 765 4321</bdi>"} {
		if !strings.Contains(settings, want) {
			t.Errorf("the settings lack %q", want)
		}
	}
	for _, hidden := range []string{"Environment", "/console/tokens", "/console/reconnect", "/console/logout-account", "ENABLE_SEND"} {
		if strings.Contains(settings, hidden) {
			t.Errorf("the settings show %q", hidden)
		}
	}
	s.do(http.MethodPost, "/console/logout", url.Values{"csrf": {first.csrf()}}).want(t, http.StatusSeeOther, "/login")
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
}

// Every page shows the account's state.
func TestFrame_SaysTheState(t *testing.T) {
	t.Parallel()
	for state, want := range map[string][]string{
		`{"status":"open","since":"2026-11-21T08:15:30.000Z"}`: {"Account: </span>Connected<"},
		`{"status":"closed","lastError":"another client took over this session: stop it, then POST /api/auth/reconnect or restart","since":"2026-11-21T08:15:30.000Z"}`: {"Account: </span>Disconnected<", "Another program is using this link. Stop it, then reconnect."},
		`{"status":"needs-pair","since":"2026-11-21T08:15:30.000Z"}`: {"Account: </span>Not linked<", ">Link an account</a>"},
	} {
		s, _ := overAPI(t, map[string]http.HandlerFunc{"/api/auth/status": replies(state)})
		s.logIn()
		page := s.get("/console/chats").want(t, http.StatusOK, "").body
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %q", state, text)
			}
		}
	}
}

// The overview shows that the account's number is registered elsewhere.
func TestOverview_ShowsASecurityNotice(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/auth/status": replies(`{"status":"open","since":"2026-11-21T08:15:30.000Z","securityNotice":` +
			`{"kind":"device_logout","at":"2026-11-21T08:15:30.000Z","message":"another phone (<i>M</i>) takes the number over"}}`),
	})
	page := s.logIn().body
	if want := "Another phone (&lt;i&gt;M&lt;/i&gt;) takes the number over."; !strings.Contains(page, want) || !strings.Contains(page, "<strong>Security, ") {
		t.Errorf("the overview lacks %q", want)
	}
}

// Without an account the overview is the page for linking one.
func TestOverview_OfAnUnlinkedBridgeIsThePairing(t *testing.T) {
	t.Parallel()
	s, _ := overAPI(t, map[string]http.HandlerFunc{
		"/api/auth/status": replies(`{"status":"needs-pair","since":"2026-11-21T08:15:30.000Z","qr":"2@abc"}`),
	})
	page := s.logIn().body
	for _, want := range []string{`aria-label="QR code"`, `name="phone"`, "Linked devices", `data-from="/console/pair"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the overview lacks %q", want)
		}
	}
}

// The settings start with actions and end with the folded environment.
func TestSettings_TheEnvironmentIsLast(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *console.Options) { o.Settings = []console.Setting{{Name: "DEVICE_NAME", Value: "bridged"}} })
	s.logIn()
	page := s.get("/console/settings").want(t, http.StatusOK, "").body
	at := -1
	for _, part := range []string{"<h2>Account</h2>", "<h2>Appearance</h2>", "<h2>Tokens</h2>", "<h2>Backup</h2>", `<details class="panel environment">`, "<h2>Environment</h2>", "DEVICE_NAME"} {
		next := strings.Index(page, part)
		if next <= at {
			t.Errorf("%q is at %d, after what is at %d", part, next, at)
		}
		at = next
	}
}
