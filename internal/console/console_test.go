package console_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"github.com/rs/zerolog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/console"
)

const token = "a-token-of-the-tests-0123456789"

// site is a console over an API with minimal answers.
type site struct {
	t       *testing.T
	console *console.Console
	server  *httptest.Server
	client  *http.Client
	asked   []string // the API's routes that were called, with their tokens
	status  string   // the answer about the account's status, unless empty
	revoked bool     // no token is good any more
	ended   string   // a token that was revoked
	rows    *rows    // the stored sessions
	options console.Options
	now     time.Time
	header  http.Header  // sent with each request
	made    atomic.Int64 // changes that the API made
}

// restart replaces the console by a new one with the same stored sessions.
func (s *site) restart() {
	s.t.Helper()
	var err error
	if s.console, err = console.New(s.options); err != nil {
		s.t.Fatal(err)
	}
}

// tokens has the tokens of the tests by their secrets.
var tokens = map[string]bridge.Token{
	token:          {Name: "BRIDGE_TOKEN", Scopes: bridge.Scopes()},
	"brt_LIMITED":  {ID: 1, Tree: 1, Name: "desk", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{"15557654321@s.whatsapp.net"}},
	"brt_SENDER":   {ID: 3, Tree: 3, Name: "phone", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}},
	"brt_ITSCHILD": {ID: 2, Tree: 1, Name: "child", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{"15557654321@s.whatsapp.net"}},
}

// secretOf returns the secret of a token by its hash; empty for none.
func secretOf(hash [sha256.Size]byte) string {
	for secret := range tokens {
		if sha256.Sum256([]byte(secret)) == hash {
			return secret
		}
	}
	return ""
}

func (s *site) tokenOf(_ context.Context, hash [sha256.Size]byte) (bridge.Token, bool, error) {
	token, known := tokens[secretOf(hash)]
	return token, known && !s.revoked && (s.ended == "" || secretOf(hash) != s.ended), nil
}

// bearing passes calls on with the secrets of their tokens.
func bearing(handler http.HandlerFunc) func(hash [sha256.Size]byte) http.Handler {
	return func(hash [sha256.Size]byte) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+secretOf(hash))
			handler(w, r)
		})
	}
}

func newSite(t *testing.T, change ...func(*console.Options)) *site {
	t.Helper()
	s := &site{t: t, rows: &rows{}, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), header: http.Header{"Sec-Fetch-Site": {"same-origin"}}}
	options := console.Options{
		API: bearing(s.api), TokenOf: s.tokenOf, Sessions: s.rows, Token: token, Now: func() time.Time { return s.now }, Log: zerolog.Nop(), Streams: t.Context(),
	}
	for _, c := range change {
		c(&options)
	}
	api := options.API
	options.API = func(hash [sha256.Size]byte) http.Handler { return s.counted(api(hash)) }
	s.options = options
	s.restart()
	s.server = httptest.NewServer(front.Callers(options.PublicURLs, front.Under(options.BasePath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.console.ServeHTTP(w, r)
	}))))
	t.Cleanup(s.server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.client = s.server.Client()
	s.client.Jar = jar
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s
}

// api answers the calls of the overview.
func (s *site) api(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
	if s.revoked {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"the token is wrong","code":"unauthorized"}`)
		return
	}
	if r.URL.Path == "/api/labels" {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error":"this account has no labels","code":"no_labels"}`)
		return
	}
	answers := map[string]string{
		"/api/events": `{"count":0,"events":[],"nextCursor":"7","reset":false}`, "/api/chats": `{"count":0,"chats":[],"nextCursor":null}`,
		"/api/contacts":    `{"count":0,"contacts":[],"nextCursor":null}`,
		"/api/calls":       `{"count":0,"calls":[],"nextCursor":null}`,
		"/api/scheduled":   `{"count":0,"scheduled":[],"nextCursor":null}`,
		"/api/auth/status": cmp.Or(s.status, `{"status":"open","since":"2026-11-21T08:15:30.000Z"}`), "/api/webhooks": `{"count":0,"webhooks":[]}`,
		"/api/stats": `{"version":"1","received":1234567,"startedAt":"2026-11-21T08:15:30.000Z"}`,
	}
	if strings.Contains(r.URL.Path, "/messages") && r.URL.Query().Has("pinned") {
		answers[r.URL.Path] = `{"count":0,"messages":[],"nextCursor":null}`
	}
	if answers[r.URL.Path] == "" {
		http.Error(w, `{"error":"there is no such route","code":"not_found"}`, http.StatusNotFound)
		return
	}
	_, _ = io.WriteString(w, answers[r.URL.Path])
}

// answer is an answer of the console.
type answer struct {
	*http.Response
	body string
}

// counted counts the changes that an API makes.
func (s *site) counted(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watched := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		api.ServeHTTP(watched, r)
		if r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/preview") && watched.Status() < http.StatusBadRequest {
			s.made.Add(1)
		}
	})
}

func (s *site) do(method, path string, form url.Values) answer {
	s.t.Helper()
	made := s.made.Load()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	maps.Copy(req.Header, s.header)
	if host := s.header.Get("Host"); host != "" {
		req.Host = host
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	// The page of an action is another one, or a reload would repeat it. Calls of the explorer have a key instead.
	if method == http.MethodPost && resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && s.made.Load() > made && !strings.HasPrefix(path, "/console/api/") {
		s.t.Errorf("POST %s made a change, and answered with a page that a reload would post again", path)
	}
	return answer{resp, string(body)}
}

func (s *site) get(path string) answer { return s.do(http.MethodGet, path, nil) }

// create posts a form that makes something, and returns the page that shows it: another one, so that
// reloading it makes nothing else.
func (s *site) create(path string, form url.Values) answer {
	s.t.Helper()
	made := s.do(http.MethodPost, path, form)
	if made.StatusCode != http.StatusSeeOther {
		s.t.Errorf("POST %s answered with %d and a page that a reload would post again:\n%s", path, made.StatusCode, made.body)
		return made
	}
	return s.get(made.Header.Get("Location")).want(s.t, http.StatusOK, "")
}

// want checks the status and the Location of an answer.
func (a answer) want(t *testing.T, status int, location string) answer {
	t.Helper()
	if a.StatusCode != status || a.Header.Get("Location") != location {
		t.Errorf("%s %s: %d to %q, want %d to %q\n%s", a.Request.Method, a.Request.URL, a.StatusCode, a.Header.Get("Location"), status, location, a.body)
	}
	return a
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"|data-csrf="([^"]+)"`)

// csrf returns the CSRF token of a page.
func (a answer) csrf() string {
	found := csrfField.FindStringSubmatch(a.body)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

// try tries to log in with a token.
func (s *site) try(token string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, "/login", url.Values{"token": {token}, "csrf": {s.get("/login").csrf()}, "zone": {"Europe/Berlin"}})
}

// visit logs in with a token, and returns the list of chats.
func (s *site) visit(token string) answer {
	s.t.Helper()
	s.try(token).want(s.t, http.StatusSeeOther, "/console/")
	return s.get("/console/chats").want(s.t, http.StatusOK, "")
}

// logIn logs in, and returns the overview.
func (s *site) logIn() answer {
	s.t.Helper()
	s.try(token).want(s.t, http.StatusSeeOther, "/console/")
	return s.get("/console/").want(s.t, http.StatusOK, "")
}

func TestLogin_TheTokenGivesASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get("/").want(t, http.StatusSeeOther, "/console/")
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
	s.get("/console/chats?x=1").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats%3Fx%3D1")
	if len(s.asked) > 0 {
		t.Errorf("asked for a stranger: %q", s.asked)
	}
	answer := s.try(token).want(t, http.StatusSeeOther, "/console/")
	cookie := answer.Header.Get("Set-Cookie")
	for _, part := range []string{"Path=/console;", "HttpOnly", "SameSite=Strict", "Max-Age=2592000"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %q is without %s", cookie, part)
		}
	}
	if strings.Contains(cookie, token) || strings.Contains(cookie, "Secure") {
		t.Errorf("the cookie is %q", cookie)
	}
	page := s.get("/console/").want(t, http.StatusOK, "").body
	if !strings.Contains(page, "Connected") || !strings.Contains(page, "1\u202f234\u202f567") || strings.Contains(page, token) || !strings.Contains(page, `data-zone="Europe/Berlin"`) {
		t.Errorf("the overview is\n%s", page)
	}
	if len(s.asked) == 0 || !strings.HasSuffix(s.asked[0], " Bearer "+token) {
		t.Errorf("asked %q", s.asked)
	}
}

func TestLogin_RedirectsOnlyToTheConsole(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/console/chats?q=x": "/console/chats?q=x", "": "/console/", "https://example.com/console/": "/console/",
		"//example.com/console/": "/console/", "/api/auth/status": "/console/", "/console/../login": "/console/", `/console/\example.com`: "/console/%5Cexample.com",
	} {
		s := newSite(t)
		form := url.Values{"token": {token}, "next": {next}, "csrf": {s.get("/login").csrf()}}
		if got := s.do(http.MethodPost, "/login", form).Header.Get("Location"); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// Wrong tokens are answered slowly; a correct one is accepted at once, because many people may share
// an address.
func TestLogin_WrongTokensAreSlowedDown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 5 {
		s.try("a-wrong-token-of-some-length").want(t, http.StatusForbidden, "")
	}
	refused := s.try("a-wrong-token-of-some-length").want(t, http.StatusTooManyRequests, "")
	if refused.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", refused.Header.Get("Retry-After"))
	}
	s.logIn()
	s.now = s.now.Add(time.Minute)
	s.try("a-wrong-token-of-some-length").want(t, http.StatusForbidden, "")
}

// The login does not read a long form of an unauthenticated client.
func TestLogin_LongFormsAreNotRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := url.Values{"token": {token}}
	for length, want := range map[int]int{15 << 10: http.StatusSeeOther, 17 << 10: http.StatusRequestEntityTooLarge} {
		form.Set("csrf", s.get("/login").csrf())
		form.Set("zone", strings.Repeat("x", length))
		if got := s.do(http.MethodPost, "/login", form).StatusCode; got != want {
			t.Errorf("a form of %d bytes: %d, want %d", length, got, want)
		}
	}
	form.Set("csrf", s.get("/login").csrf())
	form.Set("zone", "")
	form.Set("next", "/console/search?q="+strings.Repeat("x", 5<<10))
	s.do(http.MethodPost, "/login", form).want(t, http.StatusSeeOther, "/console/")
}

func TestLogin_WithoutItsFormIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get("/login")
	s.do(http.MethodPost, "/login", url.Values{"token": {token}}).want(t, http.StatusForbidden, "")
	s.do(http.MethodPost, "/login", url.Values{"token": {token}, "csrf": {"guessed"}}).want(t, http.StatusForbidden, "")
}

// When a session ends, another tab redirects to the login. A login form that is open stays valid.
func TestLogin_AnotherFormLeavesTheFirstValid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.get("/login").csrf()
	s.get("/login")
	s.do(http.MethodPost, "/login", url.Values{"token": {token}, "csrf": {first}}).want(t, http.StatusSeeOther, "/console/")
}

func TestLoginLink_IsValidOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link, late := s.console.LoginLink(), s.console.LoginLink()
	s.get(link).want(t, http.StatusSeeOther, "/console/")
	s.get("/console/").want(t, http.StatusOK, "")
	s.get(link).want(t, http.StatusForbidden, "")
	s.get("/login?once=guessed").want(t, http.StatusForbidden, "")
	s.now = s.now.Add(time.Hour)
	s.get(late).want(t, http.StatusForbidden, "")
}

func TestSession_Ends(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.logIn()
	s.do(http.MethodPost, "/console/logout", url.Values{"csrf": {page.csrf()}}).want(t, http.StatusSeeOther, "/login")
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
	s.logIn()
	s.now = s.now.Add(30 * 24 * time.Hour)
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
}

// After a logout the cookie is invalid.
func TestSession_EndsAtTheLogout(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.logIn()
	at, err := url.Parse(s.server.URL + "/console/")
	if err != nil {
		t.Fatal(err)
	}
	kept := s.client.Jar.Cookies(at)
	s.do(http.MethodPost, "/console/logout", url.Values{"csrf": {page.csrf()}})
	s.client.Jar.SetCookies(at, kept)
	s.get("/console/").want(t, http.StatusSeeOther, "/login")
}

func TestSession_LinksOfOtherSitesLoadTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.header.Set("Sec-Fetch-Site", "cross-site")
	page := s.get("/console/chats?q=%22%3E").want(t, http.StatusOK, "").body
	if !strings.Contains(page, `content="0;url=/console/chats?q=%22%3E"`) {
		t.Errorf("page\n%s", page)
	}
}

// A limited token opens a session with its rights, which ends when the token is revoked.
func TestLogin_WithLessPower(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.do(http.MethodPost, "/login", url.Values{"token": {" brt_LIMITED "}, "csrf": {s.get("/login").csrf()}}).want(t, http.StatusSeeOther, "/console/")
	s.get("/console/").want(t, http.StatusSeeOther, "/console/chats")
	s.asked = nil
	page := s.get("/console/chats")
	page.want(t, http.StatusOK, "")
	for _, asked := range s.asked {
		if !strings.HasSuffix(asked, " Bearer brt_LIMITED") {
			t.Errorf("asked with another token: %s", asked)
		}
	}
	for _, hidden := range []string{`href="/console/webhooks"`, `href="/console/hooks"`} {
		if strings.Contains(page.body, hidden) {
			t.Errorf("the page shows %s", hidden)
		}
	}
	s.revoked = true
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
	s.revoked = false
	s.get("/console/chats").want(t, http.StatusSeeOther, "/login?next=%2Fconsole%2Fchats")
}

// All requests of a reverse proxy have its address, so visitors are counted by the address in its
// headers.
func TestLogin_CountsVisitorsOfAProxySeparately(t *testing.T) {
	t.Parallel()
	behind := &url.URL{Scheme: "http", Host: "bridge.example.com"}
	s := newSite(t, func(o *console.Options) { o.PublicURLs = []*url.URL{behind} })
	s.header.Set("Host", behind.Host)
	s.header.Set("X-Forwarded-For", "203.0.113.7, 198.51.100.1")
	for range 5 {
		s.try("a-wrong-token-of-some-length").want(t, http.StatusForbidden, "")
	}
	s.header.Set("X-Forwarded-For", "203.0.113.8, 198.51.100.1") // only the last is the proxy's word
	s.try("a-wrong-token-of-some-length").want(t, http.StatusTooManyRequests, "")
	s.header.Set("X-Forwarded-For", "203.0.113.7, 198.51.100.2")
	s.try("a-wrong-token-of-some-length").want(t, http.StatusForbidden, "")
}

// The body of an unauthenticated request is not read, with any method.
func TestGuard_ReadsNoUnauthenticatedBody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/login", "/console/", "/"} {
		body := &counted{}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 1 << 40
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		resp, err := s.client.Transport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		if got := body.read.Load(); got > 8<<20 {
			t.Errorf("%s took %d bytes", path, got)
		}
	}
}

// counted is a file part without end.
type counted struct {
	read  atomic.Int64
	begun bool
}

func (c *counted) Read(p []byte) (int, error) {
	n := len(p)
	if !c.begun {
		c.begun = true
		n = copy(p, "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n")
	}
	c.read.Add(int64(n))
	return n, nil
}
