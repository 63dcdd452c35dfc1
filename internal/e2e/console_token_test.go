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

// With a token for one chat, the console shows that chat only.
func TestConsole_ShowsATokenItsChatsAlone(t *testing.T) {
	t.Parallel()
	s := newAgentScene(t)
	visitor := newVisitor(t, s.process)
	if status, page := visitor.logIn(s.token); status != http.StatusOK || !strings.Contains(page, "Sam") || strings.Contains(page, "Kim") {
		t.Errorf("the chats: %d\n%s", status, page)
	}
	if _, page := visitor.get("/console/search?q=words"); strings.Contains(page, "the words of Kim") {
		t.Errorf("the search shows what is outside:\n%s", page)
	}
	inside, outside := "/console/chats/"+url.PathEscape(s.sam.PN().String()), "/console/chats/"+url.PathEscape(s.kim.PN().String())
	if status, page := visitor.get(inside); status != http.StatusOK || !strings.Contains(page, "SYSTEM") {
		t.Errorf("the chat: %d\n%s", status, page)
	}
	if status, _ := visitor.get(outside); status != http.StatusNotFound {
		t.Errorf("a chat outside: %d", status)
	}
}

// visitor is a person with a browser.
type visitor struct {
	t       *testing.T
	p       *process
	browser *http.Client
}

// newVisitor returns a visitor whose browser opens a connection for each request.
func newVisitor(t *testing.T, p *process) *visitor {
	return &visitor{t, p, &http.Client{Jar: must(cookiejar.New(nil))(t), Timeout: testPatience, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// open makes a request, follows redirects and returns the final status and page.
func (v *visitor) open(req *http.Request) (int, string) {
	v.t.Helper()
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := v.browser.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	return resp.StatusCode, string(must(io.ReadAll(resp.Body))(v.t))
}

func (v *visitor) get(path string) (int, string) {
	v.t.Helper()
	return v.open(must(http.NewRequest(http.MethodGet, "http://"+v.p.address+path, nil))(v.t))
}

// logIn submits the form with a token.
func (v *visitor) logIn(token string) (int, string) {
	v.t.Helper()
	_, form := v.get("/login")
	csrf := csrfField.FindStringSubmatch(form)
	if csrf == nil {
		v.t.Fatalf("the form has no token:\n%s", form)
	}
	login := must(http.NewRequest(http.MethodPost, "http://"+v.p.address+"/login", strings.NewReader(url.Values{"token": {token}, "csrf": {csrf[1]}}.Encode())))(v.t)
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.open(login)
}
