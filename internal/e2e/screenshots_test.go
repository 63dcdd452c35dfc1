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

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

var (
	screenshots = flag.String("screenshots", "", "write pictures of the console's pages to this directory")
	onlyShots   = flag.String("shots", "", "only the pictures whose names match this")
)

var loginLink = regexp.MustCompile(`(http://[^/\s]+)(/login\?once=\S+)`)

// shot is a page to take a screenshot of, and the steps before it.
type shot struct {
	name, path string
	chat       string // the beginning of a chat's name, instead of a path
	prepare    steps
	after      steps // so that the page can be left
	whole      bool  // all of a page that is scrolled, not only its beginning
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
	api := client.New(link[1], docsToken)
	populate(t, api)
	for _, s := range shots() {
		b.take(s)
	}
	b.readOnly(api)
	for _, s := range readOnlyShots() {
		b.take(s)
	}
	for _, expected := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict} {
		b.faultsOf(expected)
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
		b.take(shot{name: "none-" + name, path: "/console/" + page, whole: true})
	}
	b.wantNoFaults()
}

// logIn logs in with the tests' token.
func (b *browser) logIn() {
	b.t.Helper()
	b.open("/login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), testToken+"\r"), loads(".rail"))
}

// readOnly logs in with a token that can read one chat alone.
func (b *browser) readOnly(api *client.Client) {
	b.t.Helper()
	made, err := api.CreateToken(b.t.Context(), client.NewToken{Name: "Front desk", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{"34600100101@s.whatsapp.net"}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.resize(1280, 800, false)
	b.open("/console/settings")
	b.do(chromedp.Click(chromedp.CSS("main [action='/console/logout'] button")))
	b.loggedOut()
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), made.Secret+"\r"), loads(".rail"))
}

// populate adds what the demo lacks: webhooks, one of them failing, a hook, a token, texts
// with all their forms, and unread answers.
func populate(t *testing.T, api *client.Client) {
	t.Helper()
	ctx := t.Context()
	taking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(taking.Close)
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(failing.Close)
	private, builds, service, sofia := true, "Build server", "gitea", "34600100101@s.whatsapp.net"
	for _, address := range []string{taking.URL + "/whatsapp", failing.URL + "/archive"} {
		if _, err := api.CreateWebhook(ctx, client.WebhookChange{URL: &address, AllowPrivate: &private}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := api.CreateToken(ctx, client.NewToken{Name: "Shop assistant", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}, Chats: []bridge.JID{"34600100101@s.whatsapp.net"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.CreateHook(ctx, client.HookChange{Name: &builds, ChatJID: &sofia, Template: &service}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Send(ctx, client.Text{To: "4915100100102@s.whatsapp.net", Text: formatted}, ""); err != nil {
		t.Fatal(err)
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
	if !regexp.MustCompile(*onlyShots).MatchString(s.name) {
		return
	}
	if s.chat != "" {
		s.path = b.pathOfChat(s.chat)
	}
	for _, window := range windows {
		for _, dark := range []bool{false, true} {
			b.resize(window.width, window.height, dark)
			callBrowser(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: window.width < 600, MaxTouchPoints: 1})
			b.open(s.path)
			b.waitFor(`document.readyState == "complete"`)
			b.do(s.prepare...)
			if s.whole {
				b.resize(window.width, max(window.height, evaluate[int64](b, `document.documentElement.scrollHeight`)), dark)
			}
			b.picture(filepath.Join(*screenshots, fmt.Sprintf("%s-%s-%s.png", s.name, window.name, map[bool]string{true: "dark", false: "light"}[dark])))
			b.do(s.after...)
		}
	}
}

// pathOfChat returns the page of the chat whose name begins with a text.
func (b *browser) pathOfChat(name string) string {
	b.t.Helper()
	b.open("/console/chats")
	return evaluate[string](b, fmt.Sprintf(`[...document.querySelectorAll(".chat-row")].find(row => row.querySelector("bdi").textContent.startsWith(%q)).getAttribute("href")`, name))
}
