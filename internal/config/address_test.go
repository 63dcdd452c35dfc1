package config

import (
	"strings"
	"testing"
)

// PUBLIC_URL may be written with BASE_PATH or without: it begins the addresses of both.
func TestConfig_BasePath(t *testing.T) {
	const token = "BRIDGE_TOKEN=a-token-of-the-tests-0123456789"
	for _, path := range []string{"/bridged", "/home/wa_1", "/api/hassio_ingress/Xy-_0"} {
		c, err := Read([]string{token, "BASE_PATH=" + path, "PUBLIC_URL=https://home.example, http://home.lan:8080" + path + "/"})
		if err != nil || c.BasePath != path || c.PublicURLs[0].String() != "https://home.example"+path || c.PublicURLs[1].String() != "http://home.lan:8080"+path {
			t.Errorf("%s: %q, %v, %v", path, c.BasePath, c.PublicURLs, err)
		}
	}
	for _, none := range []string{"", "/", " "} {
		if c, err := Read([]string{token, "BASE_PATH=" + none}); err != nil || c.BasePath != "" {
			t.Errorf("%q: %q, %v", none, c.BasePath, err)
		}
	}
	for wrong, want := range map[string]string{
		"bridged": "BASE_PATH must be a path", "/bridged/": "BASE_PATH must be a path", "/a//b": "BASE_PATH must be a path", "/a/../b": "BASE_PATH must be a path", "/a.b": "BASE_PATH must be a path",
		"/a b": "BASE_PATH must be a path", "https://x/a": "BASE_PATH must be a path", `/a"b`: "BASE_PATH must be a path", "//evil": "BASE_PATH must be a path", "/" + strings.Repeat("a", 200): "BASE_PATH must be a path",
		"/api": "BASE_PATH must not begin with /api", "/api/chats": "BASE_PATH must not begin with /api", "/console": "BASE_PATH must not begin with /console", "/hooks/x": "BASE_PATH must not begin with /hooks",
		"/cloud": "BASE_PATH must not begin with /cloud", "/login": "BASE_PATH must not begin with /login",
	} {
		if _, err := Read([]string{token, "BASE_PATH=" + wrong}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", wrong, err, want)
		}
	}
	for _, wrong := range []string{"https://home.example/other", "https://home.example/bridged/console"} {
		if _, err := Read([]string{token, "BASE_PATH=/bridged", "PUBLIC_URL=" + wrong}); err == nil || !strings.Contains(err.Error(), "PUBLIC_URL must be") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
