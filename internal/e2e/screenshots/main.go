// Command screenshots takes screenshots of all pages of the console, with conversations and
// without, for README and for developers of the pages: make screenshots.
package main

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
	"time"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
)

var (
	directory = flag.String("to", "screenshots", "the directory that the pictures are written to")
	onlyShots = flag.String("only", "", "a regular expression of the names of pictures to take")
)

func main() {
	flag.Parse()
	os.Exit(Program("screenshots", func(t testing.TB) {
		if err := os.MkdirAll(*directory, 0o755); err != nil {
			t.Fatal(err)
		}
		ofTheDemo(t)
		ofNothing(t)
	}))
}

var loginLink = regexp.MustCompile(`(http://[^/\s]+)(/login\?once=\S+)`)

// shot is a page for a screenshot, with the steps that open it.
type shot struct {
	name, path string
	chat       string // the beginning of a chat's name, instead of a path
	prepare    Steps
	after      Steps // so that the page can be left
	whole      bool  // all of a page that is scrolled, not only its beginning
}

// windows lists the sizes of the screenshots.
var windows = []struct {
	name          string
	width, height int64
}{{"phone", 390, 844}, {"tablet", 768, 1024}, {"desk", 1440, 900}}

// ofTheDemo takes screenshots of the demo's conversations.
func ofTheDemo(t testing.TB) {
	address := "127.0.0.1:" + FreePort(t)
	d := StartDemo(t, "BRIDGE_TOKEN="+DocsToken, "LISTEN_ADDR="+address, "MCP=send", "MCP_OAUTH=true", "PUBLIC_URL=http://"+address)
	link := loginLink.FindStringSubmatch(d.Stdout.String())
	if link == nil {
		t.Fatalf("the demo prints no link:\n%s", d.Stdout)
	}
	b := OpenBrowser(t, link[1])
	take(b, shot{name: "login", path: "/login"})
	b.Open(link[2])
	api := client.New(link[1], DocsToken)
	populate(t, api)
	for _, s := range append(shots(), consentShots(t, link[1])...) {
		take(b, s)
	}
	readOnly(b, api)
	for _, s := range readOnlyShots() {
		take(b, s)
	}
	for _, expected := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict} {
		b.FaultsOf(expected)
	}
	b.WantNoFaults()
}

// ofNothing takes screenshots of an unused bridge.
func ofNothing(t testing.TB) {
	p := StartBridge(t, NewNetwork(t))
	b := OpenBrowser(t, "http://"+p.Address)
	b.LogIn()
	for _, page := range []string{"pair", "chats", "events", "webhooks", "settings", ""} {
		name := page
		if name == "" {
			name = "overview"
		}
		take(b, shot{name: "none-" + name, path: "/console/" + page, whole: true})
	}
	b.WantNoFaults()
}

// readOnly logs in with a token that can read one chat alone.
func readOnly(b *Browser, api *client.Client) {
	b.T.Helper()
	made, err := api.CreateToken(b.T.Context(), client.NewToken{Name: "Front desk", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{"34600100101@s.whatsapp.net"}})
	if err != nil {
		b.T.Fatal(err)
	}
	b.Resize(1280, 800, false)
	b.Open("/console/settings")
	b.Do(Clicks("main [action='/console/logout'] button"))
	b.LoggedOut()
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), made.Secret+"\r"), Loads(".rail"))
}

// populate adds webhooks, of which one fails, a hook, a token, texts in all formats, and unread answers.
// The demo has none of them.
func populate(t testing.TB, api *client.Client) {
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
	schedule(t, api)
	mark(t, api)
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

// schedule schedules messages to a chat.
func schedule(t testing.TB, api *client.Client) {
	t.Helper()
	chats, err := api.Chats(t.Context(), bridge.ChatQuery{Type: bridge.ChatsAll, Q: "Elif", Limit: 1})
	if err != nil || len(chats.Items) == 0 {
		t.Fatal("there is no Elif: ", err)
	}
	to, in := chats.Items[0].JID, func(d time.Duration) bridge.Time { return bridge.At(time.Now().Add(d)) }
	for _, m := range []client.Later{
		{Message: client.Text{To: to, Text: "Günaydın! Don’t forget the map and enough water, please."}, At: in(20 * time.Hour)},
		{Message: client.Poll{To: to, Name: "When do we start?", Values: []string{"8:00", "9:00"}}, At: in(70 * time.Hour)},
		{Message: client.Text{To: "15550000000000@lid", Text: "To nobody"}, At: in(2 * time.Second)},
	} {
		if _, err := api.Send(t.Context(), m, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// mark pins messages of a group, and votes in its poll.
func mark(t testing.TB, api *client.Client) {
	t.Helper()
	found, err := api.Search(t.Context(), bridge.SearchQuery{MessageFilter: bridge.MessageFilter{FromMe: new(false)}, ChatType: bridge.ChatsGroup, Limit: 30})
	if err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for _, m := range found.Items {
		if m.Content != "" && strings.HasPrefix(m.ChatName, "Wandern") && strings.Contains(strings.ToLower(m.Content), "stra") && pinned < 2 {
			pinned++
			if _, err := api.Pin(t.Context(), m.ChatJID, m.MsgID, "7d", ""); err != nil {
				t.Fatal(err)
			}
		}
		if poll, err := api.Message(t.Context(), m.ChatJID, m.MsgID); err == nil && poll.Poll != nil {
			if _, err := api.Vote(t.Context(), m.ChatJID, m.MsgID, []string{poll.Poll.Options[1].Name}, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// take takes screenshots of a page in all windows.
func take(b *Browser, s shot) {
	b.T.Helper()
	if !regexp.MustCompile(*onlyShots).MatchString(s.name) {
		return
	}
	if s.chat != "" {
		s.path = pathOfChat(b, s.chat)
	}
	for _, window := range windows {
		for _, dark := range []bool{false, true} {
			b.Resize(window.width, window.height, dark)
			b.Open(s.path)
			b.WaitFor(`document.readyState == "complete"`)
			b.Do(s.prepare...)
			if s.whole {
				b.Resize(window.width, max(window.height, Evaluate[int64](b, `document.documentElement.scrollHeight`)), dark)
			}
			b.Picture(filepath.Join(*directory, fmt.Sprintf("%s-%s-%s.png", s.name, window.name, map[bool]string{true: "dark", false: "light"}[dark])))
			b.Do(s.after...)
		}
	}
}

// pathOfChat returns the page of the chat whose name begins with a text.
func pathOfChat(b *Browser, name string) string {
	b.T.Helper()
	b.Open("/console/chats")
	return Evaluate[string](b, fmt.Sprintf(`[...document.querySelectorAll(".chat-row")].find(row => row.querySelector("bdi").textContent.startsWith(%q)).getAttribute("href")`, name))
}
