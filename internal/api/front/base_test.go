package front

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Below a base path and at the root the same is served; what only looks like the path is left.
func TestBelow_ServesBoth(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path+"|"+r.URL.EscapedPath()+"|"+r.URL.RawQuery)
	})
	for target, want := range map[string]string{
		"/wa/api/chats?q=1":     "/api/chats|/api/chats|q=1",
		"/api/chats?q=1":        "/api/chats|/api/chats|q=1",
		"/wa":                   "/|/|",
		"/wa/":                  "/|/|",
		"/wa/x/15%2F5":          "/x/15/5|/x/15%2F5|",
		"/wax/api":              "/wax/api|/wax/api|",
		"/x/wa/api":             "/x/wa/api|/x/wa/api|",
		"/wa/wa/api":            "/wa/api|/wa/api|",
		"/%77a/x%2Fy":           "/wa/x/y|/%77a/x%2Fy|", // no proxy writes it so
		"/wa//evil.example/api": "//evil.example/api|//evil.example/api|",
	} {
		answer := httptest.NewRecorder()
		Under("/wa", echo).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, target, http.NoBody))
		if got := answer.Body.String(); got != want {
			t.Errorf("%s is %s, want %s", target, got, want)
		}
	}
}
