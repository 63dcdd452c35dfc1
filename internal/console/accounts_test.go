package console_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"bridged/internal/console"
)

// threeAccounts gives a console a switch, below a path.
func threeAccounts(o *console.Options) {
	o.BasePath = "/a/anna"
	o.Accounts = []console.Account{{Name: "Anna", Address: "/a/anna", IsOwn: true}, {Name: "Shop & Co", Address: "/a/shop"}, {Name: "Berlin", Address: "https://berlin.example.com/wa"}}
}

// The switch leads to the other accounts' own paths. Holders of limited tokens do not learn that there
// are others.
func TestAccounts_AreOfferedToTheOperator(t *testing.T) {
	s := newSite(t, threeAccounts)
	page := s.logInAt("/a/anna", token).body
	for _, part := range []string{
		`popovertarget="accounts"`, `<a href='/a/anna/console/' aria-current="true"`, `<a href='/a/shop/console/' data-account`, `<a href='https://berlin.example.com/wa/console/' data-account`,
		"Shop &amp; Co", ">berlin.example.com</span>",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page is without %s", part)
		}
	}
	s.logInAt("/a/anna", "brt_LIMITED")
	if page := s.get("/a/anna/console/chats").want(t, http.StatusOK, "").body; strings.Contains(page, "Shop") || strings.Contains(page, "accounts-title") {
		t.Errorf("a limited token sees\n%s", page)
	}
	if page := newSite(t).logIn().body; strings.Contains(page, "accounts-title") {
		t.Error("a console without ACCOUNTS has a switch")
	}
}

// Without a session the state says only what anyone can see; nothing is asked of the API.
func TestAccounts_StateNeedsASession(t *testing.T) {
	const path = "/a/anna/console/account"
	s := newSite(t, threeAccounts)
	want := func(when, body string) {
		t.Helper()
		got := s.get(path).want(t, http.StatusOK, "")
		if got.body != body || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s, %v", when, got.body, got.Header)
		}
	}
	want("without a session", `{"loggedIn":false}`)
	if len(s.asked) > 0 {
		t.Errorf("asked %q for a client without a session", s.asked)
	}
	s.logInAt("/a/anna", token)
	want("with a session", `{"loggedIn":true,"tone":"good","word":"Connected"}`)
	s.status = `{"status":"needs-pair","since":"2026-11-21T08:15:30.000Z"}`
	want("without an account", `{"loggedIn":true,"tone":"bad","word":"Not linked"}`)
	s.revoked = true
	want("with a revoked token", `{"loggedIn":false}`)
}

// Bridges at one address never get each other's cookies: each has the path of its bridge.
func TestAccounts_CookiesStayBelowTheirPath(t *testing.T) {
	s := newSite(t, threeAccounts)
	s.logInAt("/a/anna", token)
	csrf := s.get("/a/anna/console/settings").csrf()
	var paths []string
	for _, answer := range []answer{
		s.get("/a/anna/login"),
		s.tryAt("/a/anna", token),
		s.do(http.MethodPost, "/a/anna/console/theme", url.Values{"csrf": {s.get("/a/anna/console/settings").csrf()}, "theme": {"dark"}}),
		s.do(http.MethodPost, "/a/anna/console/logout", url.Values{"csrf": {csrf}}),
	} {
		for _, cookie := range answer.Cookies() {
			paths = append(paths, cookie.Path)
		}
	}
	slices.Sort(paths)
	if paths = slices.Compact(paths); !slices.Equal(paths, []string{"/a/anna/", "/a/anna/console", "/a/anna/login"}) {
		t.Errorf("the paths of cookies are %q", paths)
	}
}

// tryAt tries to log in below a path.
func (s *site) tryAt(base, token string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, base+"/login", url.Values{"token": {token}, "csrf": {s.get(base + "/login").csrf()}})
}

// logInAt logs in below a path, and returns the overview.
func (s *site) logInAt(base, token string) answer {
	s.t.Helper()
	s.tryAt(base, token).want(s.t, http.StatusSeeOther, base+"/console/")
	return s.get(base + "/console/")
}
