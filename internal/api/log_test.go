package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// What people write, who they are and what opens the bridge stays out of the
// log, whatever is asked.
func TestLog_KeepsSecrets(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, path := range []string{
		graceHistory + "?q=hush", "/api/messages/individual/15557654321%40s.whatsapp.net", "/api/messages/individual/15557654321",
		"/api/groups/15557654321-1420070400%40g.us", "/api/messages/search?q=hush", "/%2B15557654321",
	} {
		s.Get(path)
	}
	s.Post("/api/messages/send", with(text(grace, "hush"), "mentions", []bridge.JID{grace}))
	s.Post("/api/messages/send", with(text(grace, "hush"), "quotedMsgId", "NONE"))
	s.Post("/api/messages/send", text("15557654321", "hush"))
	s.Post("/api/auth/pair", `{"phone":"15557654321x"}`)
	s.account.reconnect = func(context.Context) error { return fmt.Errorf("dial for %s failed", grace) }
	s.Post("/api/auth/reconnect", nil)
	log := s.log.String()
	for _, secret := range []string{"hush", grace.User(), token} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
	for _, kept := range []string{`"path":"/api/messages/individual/…21@s.whatsapp.net"`, `"code":"not_found"`, "dial for …21@s.whatsapp.net failed"} {
		if !strings.Contains(log, kept) {
			t.Errorf("%s is not in the log:\n%s", kept, log)
		}
	}
}

func TestLog_HasALineForEveryRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	id := s.Get("/api/chats").Header.Get("X-Request-Id")
	for line := range strings.Lines(s.log.String()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		if event["message"] == "request" {
			if event["method"] != "GET" || event["path"] != "/api/chats" || event["status"] != 200.0 || event["request_id"] != id || event["level"] != "info" {
				t.Errorf("line %s", line)
			}
			return
		}
	}
	t.Error("no line")
}

// A method is any word that a caller likes.
func TestLog_HoldsLittleOfAMethod(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, method := range []string{grace.User(), strings.Repeat("X", 5000)} {
		req := httptest.NewRequestWithContext(t.Context(), method, "/healthz", nil)
		s.handler.ServeHTTP(httptest.NewRecorder(), req)
	}
	log := s.log.String()
	if !strings.Contains(log, `"method":"…21"`) || !strings.Contains(log, `"method":"XXXXXXXXXXXXXXXX…"`) {
		t.Errorf("the log has %s", log)
	}
}
