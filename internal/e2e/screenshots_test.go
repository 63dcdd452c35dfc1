package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

var (
	screenshots = flag.String("screenshots", "", "write pictures of the console's pages to this directory")
	onlyShots   = flag.String("shots", "", "only the pictures whose names contain this")
)

var loginLink = regexp.MustCompile(`(http://[^/\s]+)(/login\?once=\S+)`)

// shot is a page to take a screenshot of, and the steps before it.
type shot struct {
	name, path string
	chat       string // the beginning of a chat's name, instead of a path
	prepare    []chromedp.Action[chromedp.Void]
}

// windows lists the sizes of the screenshots.
var windows = []struct {
	name          string
	width, height int64
}{{"phone", 390, 844}, {"desk", 1280, 800}}

// TestScreenshots takes screenshots of all pages, with conversations and without,
// for README and for developers of the pages: make screenshots.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("pictures are taken with -args -screenshots DIRECTORY")
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	d := startDemo(t, "BRIDGE_TOKEN="+docsToken)
	link := loginLink.FindStringSubmatch(d.stdout.String())
	if link == nil {
		t.Fatalf("the demo prints no link:\n%s", d.stdout)
	}
	b := openBrowser(t, link[1])
	b.take(shot{name: "login", path: "/login"})
	b.open(link[2])
	populate(t, client.New(link[1], docsToken))
	for _, s := range shots() {
		b.take(s)
	}
	b.wantNoFaults()
}

// TestScreenshots_OfNothing takes screenshots of an unused bridge.
func TestScreenshots_OfNothing(t *testing.T) {
	if *screenshots == "" {
		t.Skip("pictures are taken with -args -screenshots DIRECTORY")
	}
	p := startBridge(t, newNetwork(t))
	b := openBrowser(t, "http://"+p.address)
	b.logIn()
	for _, page := range []string{"pair", "chats", "events", "webhooks", "settings", ""} {
		name := page
		if name == "" {
			name = "overview"
		}
		b.take(shot{name: "none-" + name, path: "/console/" + page})
	}
	b.wantNoFaults()
}

// logIn logs in with the tests' token.
func (b *browser) logIn() {
	b.t.Helper()
	b.open("/login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), testToken+"\r"), loads(".rail"))
}

// populate adds what the demo lacks: webhooks, one of them failing, and unread
// answers.
func populate(t *testing.T, api *client.Client) {
	t.Helper()
	ctx := t.Context()
	taking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(taking.Close)
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(failing.Close)
	private := true
	for _, address := range []string{taking.URL + "/whatsapp", failing.URL + "/archive"} {
		if _, err := api.CreateWebhook(ctx, client.WebhookChange{URL: &address, AllowPrivate: &private}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := api.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"¿Llevas tú el mapa? *Importante*: https://example.org/mapa", "🥾"} {
		if _, err := api.Send(ctx, client.Text{To: "34600100101@s.whatsapp.net", Text: text}, ""); err != nil {
			t.Fatal(err)
		}
	}
	answers := 0
	for event, err := range api.Events(ctx, client.EventQuery{After: after, Types: []bridge.EventType{bridge.EventMessageCreated}}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Message != nil && !event.Message.FromMe && strings.Contains(event.Message.Content, "Me escribiste") {
			answers++
		}
		if answers == 2 {
			return
		}
	}
}

// take takes screenshots of a page in all windows.
func (b *browser) take(s shot) {
	b.t.Helper()
	if !strings.Contains(s.name, *onlyShots) {
		return
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

// pathOfChat returns the page of the chat whose name begins with a text.
func (b *browser) pathOfChat(name string) string {
	b.t.Helper()
	b.open("/console/chats")
	return evaluate[string](b, fmt.Sprintf(`[...document.querySelectorAll(".chat-row")].find(row => row.querySelector("bdi").textContent.startsWith(%q)).getAttribute("href")`, name))
}

func shots() []shot {
	click := func(selector string) []chromedp.Action[chromedp.Void] {
		return []chromedp.Action[chromedp.Void]{chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible)}
	}
	return []shot{
		{name: "overview", path: "/console/"},
		{name: "chats", path: "/console/chats"},
		{name: "group", chat: "Wandern"},
		{name: "person", chat: "Sofía"},
		{name: "rtl", chat: "عائلة"},
		{name: "contact", chat: "Elif"},
		{name: "document", chat: "अर्जुन"},
		{name: "extras", chat: "Yuki", prepare: click("[data-extras]")},
		{name: "new", path: "/console/new"},
		{name: "new-group", path: "/console/new/group"},
		{name: "contacts", path: "/console/contacts"},
		{name: "contact-info", path: "/console/people/34600100101%40s.whatsapp.net"},
		{name: "group-info", chat: "Wandern", prepare: []chromedp.Action[chromedp.Void]{
			chromedp.Evaluate[chromedp.Void](`location.href = document.querySelector(".chat-who").href`), chromedp.WaitVisible(chromedp.CSS("#members")),
		}},
		{name: "search", path: "/console/search?q=strasse"},
		{name: "events", path: "/console/events"},
		{name: "webhooks", path: "/console/webhooks"},
		{name: "webhook", path: "/console/webhooks/2"},
		{name: "pair", path: "/console/pair"},
		{name: "reference", path: "/console/api/sendText"},
		{name: "settings", path: "/console/settings"},
		{name: "tokens", path: "/console/tokens"},
		{name: "hooks", path: "/console/hooks"},
	}
}
