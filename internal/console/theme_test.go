package console_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
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

// colour has red, green and blue from 0 to 1.
type colour [3]float64

// over returns a colour of some opacity on another one.
func (c colour) over(ground colour, opacity float64) (mixed colour) {
	for i := range c {
		mixed[i] = c[i]*opacity + ground[i]*(1-opacity)
	}
	return mixed
}

// luminance is the relative luminance of WCAG 2.2.
func (c colour) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

// contrast returns the contrast of two colours, from 1 to 21.
func contrast(a, b colour) float64 {
	light, dark := max(a.luminance(), b.luminance()), min(a.luminance(), b.luminance())
	return (light + 0.05) / (dark + 0.05)
}

var (
	pairOfColours = regexp.MustCompile(`--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)`)
	pairOfShades  = regexp.MustCompile(`--quote: light-dark\(rgb\((\d+) \d+ \d+ / ([.\d]+)\), rgb\((\d+) \d+ \d+ / ([.\d]+)\)\)`)
)

// Every text can be read on what it is on, by day and by night: its contrast is at least 4.5 (WCAG 1.4.3). The second line
// of a document in an own message had 4.28.
func TestTheme_HasContrast(t *testing.T) {
	t.Parallel()
	var sheets string
	for _, name := range []string{"console.css", "messages.css"} {
		sheet, err := os.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sheets += string(sheet)
	}
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	quotes := pairOfShades.FindAllStringSubmatch(sheets, -1)
	if len(quotes) != 2 {
		t.Fatalf("the ground of quotes is %q, want one for all messages and one for own ones", quotes)
	}
	for dark, theme := range []string{"light", "dark"} {
		colours := make(map[string]colour)
		for _, pair := range pairOfColours.FindAllStringSubmatch(sheets, -1) {
			value, err := strconv.ParseUint(pair[2+dark], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			colours[pair[1]] = colour{float64(value>>16) / 255, float64(value>>8&255) / 255, float64(value&255) / 255}
		}
		for i, bubble := range []string{"in", "out"} {
			shade := number(quotes[i][1+2*dark]) / 255
			colours["quote in "+bubble] = colour{shade, shade, shade}.over(colours[bubble], number(quotes[i][2+2*dark]))
		}
		text := colours["text"]
		pairs := map[string][]string{
			"text": {"bg", "surface", "sunken", "hover", "on", "canvas", "in", "out", "quote in in", "quote in out"}, "accent": {"bg", "surface", "sunken", "hover", "on", "in", "out", "quote in in", "quote in out"},
			"faint": {"bg", "surface", "sunken", "hover"}, "good": {"good-soft", "surface"}, "bad": {"bad-soft", "bg", "surface", "hover", "in", "out"}, "warn": {"warn-soft", "surface"}, "accent-text": {"accent"},
			"surface": {"bad"}, "bg": {"text", "bad"},
		}
		pairs["dim"] = pairs["text"]
		for i := range 8 {
			hue, letter := fmt.Sprint("hue-", i), fmt.Sprint("letter ", i)
			colours[letter], colours["avatar "+letter] = colours[hue].over(text, 0.8), colours[hue].over(colours["surface"], 0.17)
			pairs[hue], pairs[letter] = []string{"in"}, []string{"avatar " + letter, "quote in in", "quote in out"}
		}
		for name, grounds := range pairs {
			for _, ground := range grounds {
				if got := contrast(colours[name], colours[ground]); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", theme, name, ground, got)
				}
			}
		}
	}
}
