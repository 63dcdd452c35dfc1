package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bridged/internal/console"
)

func TestGuard_HeadersOfAllAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	want := map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	}
	s.logIn()
	for _, path := range []string{"/", "/login", "/console/", "/console/nowhere", "/console/assets/console.css", "/console/assets/none", "/favicon.ico"} {
		header := s.get(path).Header
		for name, value := range want {
			if header.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, header.Get(name))
			}
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
}

// Only the pages of chats may use the microphone, and only for those who may send.
func TestGuard_TheMicrophoneIsForVoiceNotes(t *testing.T) {
	t.Parallel()
	chat := "/console/chats/" + escapedGrace
	s, _ := overAPI(t, aChat())
	s.logIn()
	for path, want := range map[string]string{
		chat: "microphone=(self)", chat + "/messages/OWN": "microphone=()", "/console/chats": "microphone=()", "/login": "microphone=()",
	} {
		if got := s.get(path).Header.Get("Permissions-Policy"); !strings.Contains(got, want) || !strings.Contains(got, "camera=()") {
			t.Errorf("%s: %q, want %s", path, got, want)
		}
	}
	s.try("brt_LIMITED") // who may not send
	if got := s.get(chat).Header.Get("Permissions-Policy"); !strings.Contains(got, "microphone=()") {
		t.Errorf("a reader: %q", got)
	}
}

func TestGuard_NamesOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	public, err := url.Parse("https://bridge.example.com")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *console.Options) { o.PublicURLs = []*url.URL{public} })
	for host, want := range map[string]int{
		"127.0.0.1:8080": http.StatusOK, "[::1]:8080": http.StatusOK, "192.168.1.5": http.StatusOK, "localhost:8080": http.StatusOK,
		"LOCALHOST": http.StatusOK, "bridge.example.com": http.StatusOK, "Bridge.Example.com:443": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "evil.example:8080": http.StatusMisdirectedRequest,
		"bridge.example.com.evil.example": http.StatusMisdirectedRequest, "127.0.0.1.evil.example": http.StatusMisdirectedRequest,
	} {
		s.header.Set("Host", host)
		if got := s.get("/login"); got.StatusCode != want {
			t.Errorf("%s: %d, want %d", host, got.StatusCode, want)
		} else if secure := strings.Contains(got.Header.Get("Set-Cookie"), "Secure"); secure != strings.Contains(strings.ToLower(host), "bridge.example.com") && want == http.StatusOK {
			t.Errorf("%s: secure cookie: %v", host, secure)
		}
	}
}

func TestGuard_PostsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := url.Values{"csrf": {s.logIn().csrf()}, "zone": {"Asia/Tokyo"}}
	for _, sent := range []http.Header{
		{},
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}},
		{"Sec-Fetch-Site": {"none"}},
		{"Origin": {"null"}},
		{"Origin": {"http://evil.example"}},
		{"Sec-Fetch-Site": {"cross-site"}, "Origin": {s.server.URL}},
	} {
		s.header = sent
		s.do(http.MethodPost, "/console/zone", form).want(t, http.StatusForbidden, "")
	}
	s.header = http.Header{"Origin": {s.server.URL}}
	s.do(http.MethodPost, "/console/zone", form).want(t, http.StatusSeeOther, "/console/")
}

func TestGuard_PostsWithoutTheTokenOfTheirSessionAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	own := s.logIn().csrf()
	other := newSite(t).logIn().csrf()
	for _, form := range []url.Values{{}, {"csrf": {""}}, {"csrf": {other}}, {"csrf": {own + "x"}}} {
		s.do(http.MethodPost, "/console/logout", form).want(t, http.StatusForbidden, "")
	}
	s.get("/console/").want(t, http.StatusOK, "")
	s.header.Set("X-CSRF-Token", own)
	s.do(http.MethodPost, "/console/logout", url.Values{}).want(t, http.StatusSeeOther, "/login")
}

func TestGuard_FormsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := url.Values{"csrf": {s.logIn().csrf()}, "zone": {strings.Repeat("x", 2<<20)}}
	s.do(http.MethodPost, "/console/zone", form).want(t, http.StatusRequestEntityTooLarge, "")
}
