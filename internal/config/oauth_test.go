package config

import (
	"strings"
	"testing"
)

// OAuth is offered where codes and secrets do not travel in plain text.
func TestConfig_OAuth(t *testing.T) {
	for urls, want := range map[string]string{
		"https://a.example":                              "https://a.example/x",
		"http://a.example, https://b.example":            "https://b.example/x",
		"http://127.0.0.1:8080,http://[::1]:8080":        "http://127.0.0.1:8080/x http://[::1]:8080/x",
		"http://localhost:8080/x, http://10.0.0.1":       "http://localhost:8080/x",
		"http://a.example,http://localhost.evil.example": "",
		"": "",
	} {
		c, err := Read(with("MCP=read", "MCP_OAUTH=true", "BASE_PATH=/x", "PUBLIC_URL="+urls))
		var got []string
		for _, at := range c.OAuthURLs {
			got = append(got, at.String())
		}
		if refused := err != nil && strings.Contains(err.Error(), "MCP_OAUTH needs a PUBLIC_URL with https"); strings.Join(got, " ") != want || refused != (want == "") {
			t.Errorf("%q: %v, %v", urls, got, err)
		}
	}
	for settings, want := range map[string]string{"MCP=off": "set MCP=read or MCP=send", "CONSOLE=false": "unset CONSOLE"} {
		if _, err := Read(with("MCP=read", "MCP_OAUTH=true", "PUBLIC_URL=https://a.example", settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
	}
	if c, err := Read(with("PUBLIC_URL=https://a.example")); err != nil || c.OAuthURLs != nil {
		t.Errorf("off: %v, %v", c.OAuthURLs, err)
	}
}
