package harness

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var CsrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// Visitor is a person with a browser.
type Visitor struct {
	t       *testing.T
	p       *Process
	browser *http.Client
}

// NewVisitor returns a visitor whose browser opens a connection for each request.
func NewVisitor(t *testing.T, p *Process) *Visitor {
	return &Visitor{t, p, &http.Client{Jar: Must(cookiejar.New(nil))(t), Timeout: TestPatience, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Open makes a request, follows redirects and returns the final status and page.
func (v *Visitor) Open(req *http.Request) (int, string) {
	v.t.Helper()
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := v.browser.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	return resp.StatusCode, string(Must(io.ReadAll(resp.Body))(v.t))
}

func (v *Visitor) Get(path string) (int, string) {
	v.t.Helper()
	return v.Open(Must(http.NewRequest(http.MethodGet, "http://"+v.p.Address+path, nil))(v.t))
}

// LogIn submits the form with a token.
func (v *Visitor) LogIn(token string) (int, string) {
	v.t.Helper()
	_, form := v.Get("/login")
	csrf := CsrfField.FindStringSubmatch(form)
	if csrf == nil {
		v.t.Fatalf("the form has no token:\n%s", form)
	}
	login := Must(http.NewRequest(http.MethodPost, "http://"+v.p.Address+"/login", strings.NewReader(url.Values{"token": {token}, "csrf": {csrf[1]}}.Encode())))(v.t)
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.Open(login)
}
