package harness

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

var CsrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// Visitor is a person with a browser.
type Visitor struct {
	t       testing.TB
	base    string // of the console's addresses
	browser *http.Client
}

// NewVisitor returns a visitor of a console. Its browser opens a connection for each request.
func NewVisitor(t testing.TB, base string) *Visitor {
	return &Visitor{t, base, &http.Client{Jar: Must(cookiejar.New(nil))(t), Timeout: TestTimeout, Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Open makes a request, follows redirects and returns the final status and page.
func (v *Visitor) Open(req *http.Request) (int, string) {
	v.t.Helper()
	resp, err := v.do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	return resp.StatusCode, string(Must(io.ReadAll(resp.Body))(v.t))
}

func (v *Visitor) do(req *http.Request) (*http.Response, error) {
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36")
	return v.browser.Do(req)
}

func (v *Visitor) Get(path string) (int, string) {
	v.t.Helper()
	return v.Open(Must(http.NewRequest(http.MethodGet, v.base+path, nil))(v.t))
}

// LogIn submits the form with a token.
func (v *Visitor) LogIn(token string) (int, string) {
	v.t.Helper()
	return v.Open(v.loginWith(token, ""))
}

// Session submits the form with a token and a time zone, and returns the cookies of the session.
func (v *Visitor) Session(token, zone string) []*http.Cookie {
	v.t.Helper()
	login := v.loginWith(token, zone)
	v.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := Must(v.do(login))(v.t)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		v.t.Fatalf("the login is answered with %s", resp.Status)
	}
	return resp.Cookies()
}

// loginWith returns the request of the form with a token and a time zone.
func (v *Visitor) loginWith(token, zone string) *http.Request {
	v.t.Helper()
	_, form := v.Get("/login")
	csrf := CsrfField.FindStringSubmatch(form)
	if csrf == nil {
		v.t.Fatalf("the form has no token:\n%s", form)
	}
	login := Must(http.NewRequest(http.MethodPost, v.base+"/login", strings.NewReader(url.Values{"token": {token}, "zone": {zone}, "csrf": {csrf[1]}}.Encode())))(v.t)
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return login
}

// Secret returns the value of the cookie of the visitor's session.
func (v *Visitor) Secret() string {
	v.t.Helper()
	for _, cookie := range v.browser.Jar.Cookies(Must(url.Parse(v.base + "/console/"))(v.t)) {
		if !strings.HasSuffix(cookie.Name, "-theme") {
			return cookie.Value
		}
	}
	v.t.Fatal("the visitor has no session")
	return ""
}

// Scanned reads a QR code in a picture.
func Scanned(t *testing.T, picture []byte) string {
	t.Helper()
	return Must(ReadQRPicture(picture))(t)
}

// ReadQRPicture is [ReadQR] for a PNG file.
func ReadQRPicture(picture []byte) (string, error) {
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return "", err
	}
	text, err := ReadQR(img)
	if err != nil {
		return "", fmt.Errorf("no QR code is in the picture: %w", err)
	}
	return text, nil
}

// JsString returns a text as a JavaScript string literal.
func JsString(text string) string {
	encoded, err := bridge.EncodeJSON(text)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// Written writes files, and returns their paths.
func Written(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
