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
	visitor := NewVisitor(t, s.Process)
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
}
