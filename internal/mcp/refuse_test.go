package mcp

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// endpointOf returns the endpoint over an API that knows the token "x".
func endpointOf(t *testing.T, metadata func(*http.Request) string) http.Handler {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := `{"name":"agent","scopes":["read"],"chats":null}`
		if r.Header.Get("Authorization") != "Bearer x" {
			w.WriteHeader(http.StatusUnauthorized)
			answer = `{"error":"no","code":"unauthorized"}`
		}
		_, _ = io.WriteString(w, answer)
	})
	return New(Options{Client: client.InProcess(api, ""), SendsPerMinute: 10, Metadata: metadata, Log: zerolog.Nop()}).Handler(t.Context())
}

// What the protocol never sees is refused as the API refuses: in JSON, with a sentence, a code and the
// request's id, whether we or the SDK refuse it.
func TestRefusals_AreTheAPIs(t *testing.T) {
	endpoint := endpointOf(t, nil)
	const call = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, c := range map[string]struct {
		method, body string
		headers      map[string]string // "" removes one
		status       int
		code         bridge.Code
	}{
		"no token":         {"POST", call, map[string]string{"Authorization": ""}, http.StatusUnauthorized, bridge.CodeUnauthorized},
		"a wrong token":    {"POST", call, map[string]string{"Authorization": "Bearer y"}, http.StatusUnauthorized, bridge.CodeUnauthorized},
		"another scheme":   {"POST", call, map[string]string{"Authorization": "Basic eA=="}, http.StatusUnauthorized, bridge.CodeUnauthorized},
		"a foreign page":   {"POST", call, map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden, bridge.CodeForbidden},
		"a rebound name":   {"POST", call, map[string]string{"Origin": "http://example.com"}, http.StatusForbidden, bridge.CodeForbidden},
		"a list":           {"POST", "[" + call + "]", nil, http.StatusBadRequest, bridge.CodeInvalid},
		"no JSON":          {"POST", "<x/>", nil, http.StatusBadRequest, bridge.CodeInvalid},
		"nothing":          {"POST", "", nil, http.StatusBadRequest, bridge.CodeInvalid},
		"a large body":     {"POST", strings.Repeat(" ", largest+1), nil, http.StatusRequestEntityTooLarge, bridge.CodePayloadTooLarge},
		"another type":     {"POST", call, map[string]string{"Content-Type": "text/plain"}, http.StatusUnsupportedMediaType, bridge.CodeInvalid},
		"no stream":        {"POST", call, map[string]string{"Accept": "application/json"}, http.StatusBadRequest, bridge.CodeInvalid},
		"a lost session":   {"POST", call, map[string]string{"Mcp-Session-Id": "GONE"}, http.StatusNotFound, bridge.CodeNotFound},
		"no session":       {"DELETE", "", nil, http.StatusBadRequest, bridge.CodeInvalid},
		"another method":   {"PUT", call, nil, http.StatusMethodNotAllowed, bridge.CodeMethodNotAllowed},
		"an old version":   {"POST", call, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}, http.StatusBadRequest, bridge.CodeInvalid},
		"GET, no sessions": {"GET", "", map[string]string{"Mcp-Protocol-Version": sessionless}, http.StatusMethodNotAllowed, bridge.CodeMethodNotAllowed},
	} {
		r := httptest.NewRequest(c.method, Path, strings.NewReader(c.body))
		for header, value := range map[string]string{"Authorization": "Bearer x", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header.Set(header, value)
		}
		for header, value := range c.headers {
			r.Header.Set(header, value)
			if value == "" {
				r.Header.Del(header)
			}
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		var refusal struct {
			Error string
			Code  bridge.Code
		}
		err := json.Unmarshal(w.Body.Bytes(), &refusal)
		if w.Code != c.status || err != nil || refusal.Code != c.code || refusal.Error == "" || strings.TrimSpace(refusal.Error) != refusal.Error {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, c.status, c.code)
		}
		if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("X-Request-Id") == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", name, w.Header())
		}
		if challenged := w.Header().Get("WWW-Authenticate") != ""; challenged != (c.status == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate is %q", name, w.Header().Get("WWW-Authenticate"))
		}
	}
}

// With OAuth a refusal says where to find how to get a token.
func TestRefusals_LeadToATokenByOAuth(t *testing.T) {
	endpoint := endpointOf(t, func(*http.Request) string { return "https://bridge.example/x" })
	for authorization, want := range map[string]string{
		"":         `Bearer resource_metadata="https://bridge.example/x"`,
		"Bearer y": `Bearer error="invalid_token", resource_metadata="https://bridge.example/x"`,
	} {
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader("{}"))
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != want {
			t.Errorf("%q: %d, WWW-Authenticate is %q, want %q", authorization, w.Code, got, want)
		}
	}
}
