package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bridged/internal/api"
)

// asksFrom sends a request as the page of an origin does.
func asksFrom(h http.Handler, origin, method, path string, header ...string) http.Header {
	req := httptest.NewRequest(method, path, http.NoBody)
	req.Header.Set("Origin", origin)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	w.Header().Set("Status", http.StatusText(w.Code))
	return w.Header()
}

// Pages of other origins read answers only if the operator names them, and never with cookies.
func TestCORS_IsForTheOriginsOfTheOperator(t *testing.T) {
	t.Parallel()
	const ours, theirs = "https://app.example.com", "https://evil.example"
	preflight := []string{"Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers", "authorization,content-type,idempotency-key,prefer"}
	for name, c := range map[string]struct {
		origins []string
		origin  string
		allowed string
	}{
		"off by default":     {nil, ours, ""},
		"named":              {[]string{ours}, ours, ours},
		"one of several":     {[]string{"http://localhost:3000", ours}, ours, ours},
		"another":            {[]string{ours}, theirs, ""},
		"another port":       {[]string{ours}, ours + ":8443", ""},
		"another scheme":     {[]string{ours}, "http://app.example.com", ""},
		"the end of a name":  {[]string{ours}, "https://evilapp.example.com", ""},
		"the start of a one": {[]string{ours}, ours + ".evil.example", ""},
		"no origin":          {[]string{ours}, "null", ""},
		"any":                {[]string{"*"}, theirs, "*"},
	} {
		h := api.New(api.Options{Token: token, CORSOrigins: c.origins})
		for _, got := range []http.Header{
			asksFrom(h, c.origin, http.MethodGet, "/api/chats"), asksFrom(h, c.origin, http.MethodGet, "/healthz"),
			asksFrom(h, c.origin, http.MethodOptions, "/api/chats/1@g.us", preflight...),
		} {
			if got.Get("Access-Control-Allow-Origin") != c.allowed || got.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: %v", name, got)
			}
		}
		got := asksFrom(h, c.origin, http.MethodOptions, "/api/chats/1@g.us", preflight...)
		if c.origins == nil {
			if got.Get("Status") != "Unauthorized" {
				t.Errorf("%s: a preflight is %v", name, got)
			}
			continue
		}
		isAllowed := strings.Contains(got.Get("Access-Control-Allow-Methods"), "PATCH") && strings.Contains(got.Get("Access-Control-Allow-Headers"), "idempotency-key")
		if got.Get("Status") != "No Content" || isAllowed != (c.allowed != "") {
			t.Errorf("%s: a preflight is %v", name, got)
		}
	}
	h := api.New(api.Options{Token: token, CORSOrigins: []string{ours}})
	if got := asksFrom(h, ours, http.MethodGet, "/api/chats"); got.Get("Status") != "Unauthorized" || !strings.Contains(got.Get("Access-Control-Expose-Headers"), "Retry-After") {
		t.Errorf("without a token: %v", got)
	}
	for _, header := range []string{"Cookie", "X-Forwarded-For"} {
		if got := asksFrom(h, ours, http.MethodOptions, "/api/chats", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", strings.ToLower(header)); got.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s is permitted: %v", header, got)
		}
	}
	req := httptest.NewRequest(http.MethodOptions, "/api/chats", strings.NewReader(strings.Repeat("x", 1<<20)))
	req.Header.Set("Origin", ours)
	req.Header.Set("Access-Control-Request-Method", "GET")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != http.StatusUnauthorized || w.Header().Get("Connection") != "close" {
		t.Errorf("a preflight with a body: %d %v", w.Code, w.Header())
	}
}
