package mcp

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// asked is the API of sizes_test.go, which keeps the parameters of the last list of messages.
type asked struct {
	content
	query url.Values
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/messages/") || strings.HasSuffix(r.URL.Path, "/messages") {
		a.query = r.URL.Query()
	}
	a.content.ServeHTTP(w, r)
}

// TestTools_PassFiltersOn to the API, which decides what goes without a text.
func TestTools_PassFiltersOn(t *testing.T) {
	api := &asked{content: ordinary}
	call := toolsOver(t, api)
	for _, c := range []struct {
		tool            string
		arguments, want map[string]any
	}{
		{"search_messages", map[string]any{"type": "image"}, map[string]any{"type": "image"}},
		{"search_messages", map[string]any{"q": "sofia", "fold": "accents"}, map[string]any{"q": "sofia", "fold": "accents"}},
		{"search_messages", map[string]any{"fromMe": false}, map[string]any{"fromMe": "false"}},
		{
			"search_messages",
			map[string]any{"q": "x", "chat": testChat, "sender": testChat, "type": "link", "fromMe": true},
			map[string]any{"q": "x", "chat": string(testChat), "sender": string(testChat), "type": "link", "fromMe": "true"},
		},
		{"list_messages", map[string]any{"jid": testChat, "type": "media"}, map[string]any{"type": "media"}},
	} {
		result := call("tools/call", c.tool, map[string]any{"name": c.tool, "arguments": c.arguments})
		if result["isError"] == true {
			t.Fatalf("%s %v: %v", c.tool, c.arguments, result["content"])
		}
		for _, name := range []string{"q", "chat", "sender", "type", "fromMe", "hasMedia"} {
			if want, _ := c.want[name].(string); api.query.Get(name) != want {
				t.Errorf("%s %v asks with %s=%q, want %q", c.tool, c.arguments, name, api.query.Get(name), want)
			}
		}
	}
	result := call("tools/call", "search_messages", map[string]any{"name": "search_messages", "arguments": map[string]any{"chat": "Anna", "q": "x"}})
	if result["isError"] != true {
		t.Errorf("a chat by its name: %v", result["content"])
	}
}
