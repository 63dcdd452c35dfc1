package config

import (
	"slices"
	"strings"
	"testing"
)

func TestSettings_ShowNoSecrets(t *testing.T) {
	c, err := Read([]string{
		"BRIDGE_TOKEN=the-token-is-a-secret-0123456789", "WEBHOOK_URL=https://hooks.example.com/hidden?key=hush", "PUBLIC_URL=https://bridge.example.com",
		"WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "PROXY_URL=http://me:hush@proxy.example.com:3128", "MEDIA_MAX_BYTES=50MiB", "FETCH_TIMEOUT=90s",
		"TRANSCRIBE_KEY=sk-hush",
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, s := range c.Settings() {
		shown[s.Name] = s.Value
		for _, secret := range []string{"the-token", "hush", "hidden", "MfKQ", "me:"} {
			if strings.Contains(s.Value, secret) {
				t.Errorf("%s shows %q", s.Name, s.Value)
			}
		}
		if usual := s.Name == "DEVICE_NAME" || s.Name == "RETENTION_DAYS"; usual && !s.IsDefault || s.Name == "MEDIA_MAX_BYTES" && s.IsDefault {
			t.Errorf("%s: default %v", s.Name, s.IsDefault)
		}
	}
	for name, want := range map[string]string{
		"BRIDGE_TOKEN": "set", "WEBHOOK_SECRET": "set", "TRANSCRIBE_KEY": "set", "WEBHOOK_URL": "https://hooks.example.com/…", "PROXY_URL": "http://proxy.example.com:3128",
		"MEDIA_MAX_BYTES": "50MiB", "FETCH_TIMEOUT": "1m30s", "EVENTS_MAX_AGE": "30d", "PHONE_NUMBER": "", "BRIDGE_TOKEN_FILE": "", "COMPAT_URL_TOKEN": "false",
	} {
		if shown[name] != want {
			t.Errorf("%s is %q, want %q", name, shown[name], want)
		}
	}
}

func TestConfig_CORSOrigins(t *testing.T) {
	const token = "BRIDGE_TOKEN=a-token-of-the-tests-0123456789"
	for value, want := range map[string][]string{
		"": nil, " * ": {"*"}, "https://App.example.com/, http://localhost:3000": {"https://app.example.com", "http://localhost:3000"},
		"https://app.example.com:443,http://[::1]:80,https://x:8443": {"https://app.example.com", "http://[::1]", "https://x:8443"}, "chrome-extension://abcdef": {"chrome-extension://abcdef"},
	} {
		if c, err := Read([]string{token, "CORS_ORIGINS=" + value}); err != nil || !slices.Equal(c.AllowedOrigins, want) {
			t.Errorf("%s: %v, %v", value, c.AllowedOrigins, err)
		}
	}
	for value, warns := range map[string]bool{"*": true, "http://app.example.com": true, "https://app.example.com,http://localhost:3000,http://127.0.0.1": false} {
		if c, err := Read([]string{token, "CORS_ORIGINS=" + value}); err != nil || (len(c.Warnings) == 1) != warns {
			t.Errorf("%s warns %q, %v", value, c.Warnings, err)
		}
	}
	for _, wrong := range []string{"app.example.com", "null", "https://", "https://x/app", "https://user@x", "https://x?y", "https://x#y", "https://*.example.com", "https://x,*", "file:///tmp"} {
		if _, err := Read([]string{token, "CORS_ORIGINS=" + wrong}); err == nil || !strings.Contains(err.Error(), "CORS_ORIGINS must list origins") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestConfig_PublicURL(t *testing.T) {
	const token = "BRIDGE_TOKEN=a-token-of-the-tests-0123456789"
	c, err := Read([]string{token, "PUBLIC_URL=https://bridge.example.com, http://bridge.lan:8080/"})
	if err != nil || len(c.PublicURLs) != 2 || c.PublicURLs[1].Hostname() != "bridge.lan" {
		t.Errorf("%v, %v", c.PublicURLs, err)
	}
	for _, wrong := range []string{"bridge.example.com", "ftp://x", "https://", "https://x/console", "https://user@x", "https://x?y"} {
		if _, err := Read([]string{token, "PUBLIC_URL=" + wrong}); err == nil || !strings.Contains(err.Error(), "PUBLIC_URL must be") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
