package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var (
	screenshots = flag.String("screenshots", "", "write pictures of the console's pages to this directory")
	onlyShots   = flag.String("shots", "", "only the pictures whose names contain this")
)

var loginLink = regexp.MustCompile(`(http://[^/\s]+)(/login\?once=\S+)`)

// shot is a page to take a picture of, and what to do there before.
type shot struct {
	name, path string
	chat       string // the page of the chat whose name begins so, in place of a path
	prepare    []chromedp.Action[chromedp.Void]
}

// windows are the sizes of the pictures.
var windows = []struct {
	name          string
	width, height int64
}{{"phone", 390, 844}, {"desk", 1280, 800}}

// TestScreenshots takes pictures of all pages, for README and for whoever
// changes them: make screenshots.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("pictures are taken with -args -screenshots DIRECTORY")
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	d := startDemo(t)
	link := loginLink.FindStringSubmatch(d.stdout.String())
	if link == nil {
		t.Fatalf("the demo prints no link:\n%s", d.stdout)
	}
	b := openBrowser(t, link[1])
	for _, s := range append([]shot{{name: "login", path: "/login"}}, shots()...) {
		if s.name == "overview" {
			b.open(link[2])
		}
		if !strings.Contains(s.name, *onlyShots) {
			continue
		}
		if s.chat != "" {
			s.path = b.pathOfChat(s.chat)
		}
		for _, window := range windows {
			for _, dark := range []bool{false, true} {
				b.resize(window.width, window.height, dark)
				b.open(s.path)
				b.waitFor(`document.readyState == "complete"`)
				b.do(s.prepare...)
				b.picture(filepath.Join(*screenshots, fmt.Sprintf("%s-%s-%s.png", s.name, window.name, map[bool]string{true: "dark", false: "light"}[dark])))
			}
		}
	}
	b.wantNoFaults()
}

// pathOfChat returns the page of the chat whose name begins with a text.
func (b *browser) pathOfChat(name string) string {
	b.t.Helper()
	b.open("/console/chats")
	return evaluate[string](b, fmt.Sprintf(`[...document.querySelectorAll(".chat-row")].find(row => row.querySelector("bdi").textContent.startsWith(%q)).getAttribute("href")`, name))
}

func shots() []shot {
	return []shot{
		{name: "overview", path: "/console/"},
		{name: "chats", path: "/console/chats"},
		{name: "group", chat: "Wandern"},
		{name: "person", chat: "Sofía"},
		{name: "rtl", chat: "عائلة"},
	}
}
