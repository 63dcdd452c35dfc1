package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
)

// With a token for one chat, the console shows that chat only.
func TestConsole_ShowsATokenItsChatsAlone(t *testing.T) {
	t.Parallel()
	s := NewAgentScene(t)
	visitor := NewVisitor(t, "http://"+s.Process.Address)
	if status, page := visitor.LogIn(s.Token); status != http.StatusOK || !strings.Contains(page, "Sam") || strings.Contains(page, "Kim") {
		t.Errorf("the chats: %d\n%s", status, page)
	}
	if _, page := visitor.Get("/console/search?q=words"); strings.Contains(page, "the words of Kim") {
		t.Errorf("the search shows what is outside:\n%s", page)
	}
	inside, outside := "/console/chats/"+url.PathEscape(s.Sam.PN().String()), "/console/chats/"+url.PathEscape(s.Kim.PN().String())
	if status, page := visitor.Get(inside); status != http.StatusOK || !strings.Contains(page, "SYSTEM") {
		t.Errorf("the chat: %d\n%s", status, page)
	}
	if status, _ := visitor.Get(outside); status != http.StatusNotFound {
		t.Errorf("a chat outside: %d", status)
	}
	survivesRestarts(t, s, visitor)
}

// survivesRestarts restarts the program: sessions go on, until their token is revoked or BRIDGE_TOKEN changes. The disk
// has no secret.
func survivesRestarts(t *testing.T, s AgentScene, visitor *Visitor) {
	t.Helper()
	operator := NewVisitor(t, "http://"+s.Process.Address)
	operator.LogIn(TestToken)
	inside := func(v *Visitor, want bool) {
		t.Helper()
		if _, page := v.Get("/console/settings"); strings.Contains(page, `id="sessions"`) != want {
			t.Errorf("logged in: %v, want %v\n%s", !want, want, page)
		}
	}
	inside(operator, true)
	s.Process.StaysAtItsAddress()
	s.Process.Restart()
	for _, v := range []*Visitor{visitor, operator} {
		inside(v, true)
		if found := s.Process.InDataDir([]byte(v.Secret())); len(found) > 0 {
			t.Errorf("the secret of a session is in %q", found)
		}
	}
	if found := s.Process.InDataDir([]byte(TestToken)); len(found) > 0 {
		t.Errorf("BRIDGE_TOKEN is in %q", found)
	}
	for _, token := range Must(s.Process.API.Tokens(Within(t)))(t) {
		Must(0, s.Process.API.RevokeToken(Within(t), token.ID))(t)
	}
	inside(visitor, false)
	inside(operator, true)
	s.Process.Set("BRIDGE_TOKEN=another-token-of-the-tests-0123456789")
	s.Process.Restart()
	inside(operator, false)
	operator.LogIn("another-token-of-the-tests-0123456789")
	inside(operator, true)
}
