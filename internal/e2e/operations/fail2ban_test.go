package operations

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
)

// TestFail2ban_FindsRefusedTokens checks deploy/fail2ban/bridged.conf with the lines that the program
// logs: each refused token is found with its caller's address, and nothing else is.
func TestFail2ban_FindsRefusedTokens(t *testing.T) {
	t.Parallel()
	b := StartBridge(t, NewNetwork(t), "LOG_LEVEL=info", "LOG_FORMAT=json", "COMPAT=waha,evolution,cloud", "MCP=read", "PUBLIC_URL=https://bridge.example.com")
	ask := func(method, path, address, token string, form url.Values) (status int) {
		req := Must(http.NewRequestWithContext(Within(t), method, "http://"+b.Address+path, strings.NewReader(form.Encode())))(t)
		req.Host = "bridge.example.com"
		req.Header.Set("X-Forwarded-For", address)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		resp := Must(http.DefaultClient.Do(req))(t)
		resp.Body.Close()
		return resp.StatusCode
	}
	refused := []string{"198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4", "2001:db8::5", "198.51.100.6", "198.51.100.7"}
	for i, path := range []string{
		"/api/chats", "/mcp", "/waha/api/sessions", "/evolution/instance/fetchInstances", "/cloud/v23.0/1/media",
		`/api/chats/%22,%22status%22:200,%22caller%22:%22192.0.2.9%22`, // a path that looks like fields
	} {
		if status := ask(http.MethodGet, path, refused[i], "a-wrong-token-0123456789abcdef", nil); status < 400 || status >= 500 {
			t.Errorf("GET %s with a wrong token: %d", path, status)
		}
	}
	login := ask(http.MethodPost, "/login", refused[6], "", url.Values{"token": {"a-wrong-token-0123456789abcdef"}, "csrf": {"none"}})
	if login != http.StatusForbidden {
		t.Errorf("a login with a wrong token: %d", login)
	}
	ask(http.MethodGet, "/api/chats", "192.0.2.1", TestToken, nil)
	ask(http.MethodGet, "/api/chats/none%40s.whatsapp.net", "192.0.2.2", TestToken, nil)
	ask(http.MethodPost, "/api/messages/send", "192.0.2.3", TestToken, nil)
	ask(http.MethodGet, "/api/groups", "192.0.2.4", TestToken, nil)
	var lines []string
	b.WaitForLog(t, "192.0.2.4")
	for line := range strings.Lines(b.Log.String()) {
		lines = append(lines, line)
	}
	filter := "../../../deploy/fail2ban/bridged.conf"
	expect := func(t *testing.T, found []string) {
		t.Helper()
		for _, address := range refused {
			if !strings.Contains(strings.Join(found, "\n")+"\n", address+"\n") {
				t.Errorf("%s is not found among %q", address, found)
			}
		}
		if len(found) != len(refused) {
			t.Errorf("found %q, want %q", found, refused)
		}
	}
	t.Run("its expression", func(t *testing.T) {
		_, rest, _ := strings.Cut(string(Must(os.ReadFile(filter))(t)), "\nfailregex = ")
		expression, _, _ := strings.Cut(rest, "\n")
		fails := regexp.MustCompile(strings.ReplaceAll(expression, "<HOST>", "([0-9a-f.:]+)"))
		var found []string
		for _, line := range lines {
			if match := fails.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
				found = append(found, match[1])
			}
		}
		expect(t, found)
	})
	t.Run("fail2ban", func(t *testing.T) {
		tool := program(t, "fail2ban-regex")
		file := filepath.Join(t.TempDir(), "bridged.log")
		if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		out := Must(exec.CommandContext(Within(t), tool, "--out", "ip", file, filter).Output())(t)
		expect(t, strings.Fields(string(out)))
	})
}
