package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// shop is an API with two labels, a chat that has one of them, and a business.
func shop(t *testing.T, asked *string) http.Handler {
	answer := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if err := json.NewEncoder(w).Encode(v); err != nil {
				t.Error(err)
			}
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/", ordinary)
	mux.HandleFunc("GET /api/labels", answer(map[string]any{"labels": []bridge.StoredLabel{
		{Label: bridge.Label{ID: "7", Name: "New customer"}}, {Label: bridge.Label{ID: "8", Name: "7"}},
	}}))
	mux.HandleFunc("GET /api/chats", func(w http.ResponseWriter, r *http.Request) {
		*asked = r.URL.Query().Get("label")
		answer(map[string]any{"chats": []bridge.Chat{{JID: testChat, Name: "Sofía", Labels: []string{"7"}}}})(w, r)
	})
	mux.HandleFunc("GET /api/contacts", func(w http.ResponseWriter, r *http.Request) {
		people := []bridge.KnownContact{{JID: testChat, Name: "Corner Shop"}, {JID: "15550100302@s.whatsapp.net", Name: "Corner"}}
		if r.URL.Query().Get("q") != "corner" {
			people = people[:1]
		}
		answer(map[string]any{"contacts": people})(w, r)
	})
	mux.HandleFunc("GET /api/contacts/{jid}/profile", answer(bridge.Profile{JID: testChat, About: new("closed on Sundays"), Verified: true, Business: &bridge.BusinessProfile{
		Address: "Main Street 1", Websites: []string{"https://shop.example"},
		Hours: &bridge.BusinessHours{Timezone: "Europe/Madrid", Days: []bridge.BusinessDay{{Day: "mon", Mode: bridge.OpenHours, Opens: new("09:00"), Closes: new("18:30")}, {Day: "tue", Mode: bridge.OpenAllDay}}},
	}}))
	return mux
}

// TestListChats_ByLabel finds a label by its name before its id, and shows the names of labels.
func TestListChats_ByLabel(t *testing.T) {
	var asked string
	call := toolsOver(t, shop(t, &asked))
	for label, want := range map[string]string{"new CUSTOMER": "7", "7": "8", "8": "8", "": ""} {
		result := call("tools/call", "list_chats", map[string]any{"name": "list_chats", "arguments": map[string]any{"label": label}})
		if text := textOf(t, result); asked != want || !strings.Contains(text, `"labels":["New customer"]`) {
			t.Errorf("%q asks for label %q, want %q: %s", label, asked, want, text)
		}
	}
	result := call("tools/call", "list_chats", map[string]any{"name": "list_chats", "arguments": map[string]any{"label": "Paid"}})
	if text := textOf(t, result); result["isError"] != true || !strings.Contains(text, "New customer") {
		t.Errorf("a label that does not exist: %s", text)
	}
}

// TestFindContact_ShowsTheProfile of a single match alone: each one asks the network.
func TestFindContact_ShowsTheProfile(t *testing.T) {
	var asked string
	call := toolsOver(t, shop(t, &asked))
	for q, want := range map[string]bool{"shop": true, "corner": false} {
		result := call("tools/call", "find_contact", map[string]any{"name": "find_contact", "arguments": map[string]any{"q": q, "profile": true}})
		text := textOf(t, result)
		for _, part := range []string{"closed on Sundays", "Main Street 1", `"mon 09:00-18:30"`, `"tue open_24h"`, "Europe/Madrid"} {
			if strings.Contains(text, part) != want {
				t.Errorf("%s: %q is in the text %v: %s", q, part, !want, text)
			}
		}
	}
}

// TestFindContact_EndsBySize with the longest profile, which follows the schema.
func TestFindContact_EndsBySize(t *testing.T) {
	schema := schemasOf(t)["find_contact"]
	for _, made := range []content{ordinary, hostile, quotes} {
		result := toolsOver(t, made)("tools/call", "find_contact", map[string]any{"name": "find_contact", "arguments": map[string]any{"limit": 1, "profile": true}})
		text := textOf(t, result)
		if sent := result["sent"].(int); sent > maxAnswer/2 || !strings.Contains(text, `"business"`) || strings.ContainsAny(text, "\u202e\U000e0041") {
			t.Errorf("%.20q: %d characters, %.300s", made.text, sent, text)
		}
		if err := schema.Validate(result["structuredContent"]); err != nil {
			t.Errorf("%.20q is not as the schema says: %v", made.text, err)
		}
	}
}

// textOf returns the text of a result.
func textOf(t *testing.T, result map[string]any) string {
	t.Helper()
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		t.Fatalf("the content is %v", result["content"])
	}
	return content[0].(map[string]any)["text"].(string)
}
