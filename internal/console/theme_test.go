package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
)

// A theme is stored until the system's is chosen, and applies to the login too.
func TestTheme_IsRemembered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	csrf := s.logIn().csrf()
	choose := func(theme string) answer {
		return s.do(http.MethodPost, "/console/theme", url.Values{"csrf": {csrf}, "theme": {theme}})
	}
	for theme, want := range map[string]string{"dark": ` data-theme="dark"`, "light": ` data-theme="light"`} {
		choose(theme).want(t, http.StatusSeeOther, "/console/settings")
		for _, page := range []string{"/console/settings", "/console/chats", "/login"} {
			shown := s.get(page).body
			if !strings.Contains(shown, want) || !strings.Contains(shown, `name="color-scheme" content="`+theme+`"`) {
				t.Errorf("%s with %s:\n%.600s", page, theme, shown)
			}
		}
	}
	choose("system").want(t, http.StatusSeeOther, "/console/settings")
	if page := s.get("/console/settings").body; strings.Contains(page, "data-theme=") || !strings.Contains(page, `content="light dark"`) {
		t.Errorf("after the system's:\n%.600s", page)
	}
	choose(`"><b>`).want(t, http.StatusForbidden, "")
}

// Browsers can install the console: the manifest is complete and its icons exist.
func TestManifest_CanBeInstalled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := strings.SplitN(strings.SplitN(s.get("/login").body, `rel="manifest" href="`, 2)[1], `"`, 2)[0]
	found := s.get(link).want(t, http.StatusOK, "")
	if found.Header.Get("Content-Type") != "application/manifest+json" {
		t.Errorf("its type is %q", found.Header.Get("Content-Type"))
	}
	var manifest struct {
		Name    string
		Start   string `json:"start_url"`
		Scope   string
		Display string
		Theme   string `json:"theme_color"`
		Icons   []struct{ Src, Type, Sizes, Purpose string }
	}
	if err := json.Unmarshal([]byte(found.body), &manifest); err != nil {
		t.Fatal(err)
	}
	// Its addresses are relative, because a reverse proxy may add a path.
	if manifest.Name == "" || path.Join("/console/assets", manifest.Start) != "/console" || manifest.Scope != manifest.Start || manifest.Display != "standalone" || manifest.Theme == "" {
		t.Errorf("the manifest is %+v", manifest)
	}
	sizes := make(map[string]bool)
	for _, icon := range manifest.Icons {
		sizes[icon.Sizes+icon.Purpose] = true
		if got := s.get("/console/assets/"+icon.Src).want(t, http.StatusOK, ""); got.Header.Get("Content-Type") != icon.Type {
			t.Errorf("%s is %q", icon.Src, got.Header.Get("Content-Type"))
		}
	}
	for _, want := range []string{"192x192", "512x512", "192x192maskable", "512x512maskable"} {
		if !sizes[want] {
			t.Errorf("there is no icon of %s", want)
		}
	}
}
