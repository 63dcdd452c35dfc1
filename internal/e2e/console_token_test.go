package e2e

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// The console of somebody with a token for one chat shows that chat alone.
func TestConsole_ShowsATokenItsChatsAlone(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t)
	jar := must(cookiejar.New(nil))(t)
	browser := &http.Client{Jar: jar}
	open := func(req *http.Request) (int, string) {
		t.Helper()
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		resp := must(browser.Do(req))(t)
		defer resp.Body.Close()
		return resp.StatusCode, string(must(io.ReadAll(resp.Body))(t))
	}
	get := func(path string) (int, string) {
		t.Helper()
		return open(must(http.NewRequest(http.MethodGet, "http://"+s.address+path, nil))(t))
	}
	_, form := get("/login")
	csrf := csrfField.FindStringSubmatch(form)
	if csrf == nil {
		t.Fatalf("the form has no token:\n%s", form)
	}
	login := must(http.NewRequest(http.MethodPost, "http://"+s.address+"/login", strings.NewReader(url.Values{"token": {s.token}, "csrf": {csrf[1]}}.Encode())))(t)
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if status, page := open(login); status != http.StatusOK || !strings.Contains(page, "Sam") || strings.Contains(page, "Kim") {
		t.Errorf("the chats: %d\n%s", status, page)
	}
	if _, page := get("/console/search?q=words"); strings.Contains(page, "the words of Kim") {
		t.Errorf("the search shows what is outside:\n%s", page)
	}
	inside, outside := "/console/chats/"+url.PathEscape(s.sam.PN().String()), "/console/chats/"+url.PathEscape(s.kim.PN().String())
	if status, page := get(inside); status != http.StatusOK || !strings.Contains(page, "SYSTEM") {
		t.Errorf("the chat: %d\n%s", status, page)
	}
	if status, _ := get(outside); status != http.StatusNotFound {
		t.Errorf("a chat outside: %d", status)
	}
}
