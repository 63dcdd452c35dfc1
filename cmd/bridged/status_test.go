package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// answering serves answers by path, and 403 otherwise.
func answering(t *testing.T, answers map[string]any) []string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		switch refused, isRefusal := answer.(*bridge.Error); {
		case !known:
			w.WriteHeader(http.StatusForbidden)
			answer = map[string]any{"error": "this token may not", "code": bridge.CodeForbidden}
		case isRefusal:
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = map[string]any{"error": refused.Msg, "code": refused.Code}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return []string{"BRIDGE_URL=" + server.URL, "BRIDGE_TOKEN=a-token-of-some-length"}
}

func statusOf(t *testing.T, answers map[string]any, flags ...string) (code int, text string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"status"}, flags...), answering(t, answers), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// troubled is an account in every kind of trouble at once.
func troubled() bridge.Status {
	at := bridge.At(noon)
	return bridge.Status{
		Status: bridge.StateClosed, HasSession: true, Since: at, PausedUntil: &at,
		User:           &bridge.User{JID: "15551234567@s.whatsapp.net", Phone: "15551234567", PushName: "Ada\x1b[31m"},
		LastError:      new("another client took over this session: stop it, then POST /api/auth/reconnect or restart"),
		CatchingUp:     &bridge.CatchingUp{Received: 405, Expected: 711},
		NewChats:       &bridge.NewChatQuota{Status: bridge.QuotaCapped, Total: new(50), Used: new(50), CycleEndsAt: &at},
		SecurityNotice: &bridge.SecurityNotice{Kind: bridge.SecurityTakenOver, At: at, Message: "another phone takes the number over"},
		ClientVersion:  bridge.ClientVersion{Current: "2.3000.1", ExpiresAt: &at},
	}
}

func TestStatus_ShowsTroubleWithItsRemedy(t *testing.T) {
	t.Parallel()
	answers := map[string]any{
		"/api/token":       map[string]any{"name": "BRIDGE_TOKEN", "scopes": bridge.Scopes()},
		"/api/auth/status": troubled(),
		"/api/stats":       map[string]any{"version": "0.9.0", "library": "v0", "startedAt": bridge.At(noon), "messages": 7, "chats": 2, "historyImport": "off", "phoneSeenAt": bridge.At(noon)},
		"/readyz":          bridge.NotConnected("the account is not connected"),
		"/api/webhooks":    map[string]any{"webhooks": []bridge.Webhook{{ID: 1, Pending: 3, Dead: 2}}},
	}
	code, text := statusOf(t, answers)
	if code != 0 {
		t.Errorf("exit code %d: the bridge has answered", code)
	}
	for _, want := range []string{
		`account      +15551234567, Ada\x1b[31m` + "\n",
		"state        closed since 2026-11-21 ",
		"last error   another client took over this session: stop it, then",
		"             → find the second program with this session, which often runs on a copy of the data directory, and stop it. Then run bridged reconnect\n",
		"next login   2026-11-21 ",
		"catching up  405 of 711 queued stanzas received\n",
		"phone        last seen 2026-11-21 ",
		"new chats    the network limits the chats that this account starts: 50 of 50 are used",
		"             → wait until then, or let people write first",
		"security     another phone takes the number over (2026-11-21 ",
		"messages     7 in 2 chats; ",
		"sending      off\n",
		"webhooks     1, with 3 deliveries pending and 2 dead\n",
		"bridge       version 0.9.0 at http://127.0.0.1:",
		"             → this program is version dev: restart the bridge if it was upgraded",
		"WhatsApp Web 2.3000.1, which the network will refuse from 2026-11-21 ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if code, text = statusOf(t, answers, "--check"); code != exitFailure || !strings.HasPrefix(text, "bridged: the account is not connected\n") {
		t.Errorf("checked: %d\n%s", code, text)
	}
}

// A store that does not answer hides nothing else.
func TestStatus_WithoutTheStore(t *testing.T) {
	t.Parallel()
	open, broken := bridge.Status{Status: bridge.StateOpen, Since: bridge.At(noon)}, bridge.Fail(bridge.CodeStorageUnavailable, "the store does not answer")
	code, text := statusOf(t, map[string]any{
		"/api/token": map[string]any{"name": "BRIDGE_TOKEN"}, "/api/auth/status": open, "/api/stats": broken, "/readyz": broken, "/api/webhooks": broken,
	})
	for _, want := range []string{"state        open", "not ready    the store does not answer"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit code %d, it lacks %q:\n%s", code, want, text)
		}
	}
}

func TestStatus_AsJSONHasTheAnswersAsTheyAre(t *testing.T) {
	t.Parallel()
	code, text := statusOf(t, map[string]any{
		"/api/token":       map[string]any{"name": "BRIDGE_TOKEN", "ofLater": 1},
		"/api/auth/status": map[string]any{"status": "open", "lastError": "the network refused the login (code 1)", "ofLater": 2},
		"/api/stats":       map[string]any{"version": "9.0.0", "ofLater": 3},
		"/readyz":          map[string]any{"ok": true},
	}, "--json")
	var got struct {
		Token, Status, Stats struct{ OfLater int }
		Remedy               string
		Ready                bool
		Webhooks             *webhookCounts
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != 0 {
		t.Fatalf("%d, %v: %s", code, err, text)
	}
	if sum := fmt.Sprint(got.Token, got.Status, got.Stats, got.Ready, got.Webhooks); sum != "{1} {2} {3} true <nil>" || !strings.HasPrefix(got.Remedy, "usually nothing") {
		t.Errorf("%s, %q", sum, got.Remedy)
	}
}
