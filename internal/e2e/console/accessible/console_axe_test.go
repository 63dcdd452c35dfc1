package accessible

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// axeVersion is the release of axe-core that checks the pages. The test downloads
// it, to keep half a megabyte of third-party script out of the repository.
const axeVersion = "4.10.3"

// finding is a violation that axe-core reports.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

// audit checks pages with axe-core (WCAG 2.2 AA, and its best practices) in a window of its own.
type audit struct {
	*Browser
	hasAxe bool // false if axe-core cannot be fetched
}

// newAudit opens a window whose pages have the rules of axe-core.
func newAudit(t *testing.T, p *Process, script string) audit {
	t.Helper()
	b := OpenBrowser(t, "http://127.0.0.1")
	CallBrowser(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	b.At(p)
	return audit{b, script != ""}
}

// check reports what axe-core finds within an element, as it stands: nothing may be more
// than minor. It does nothing without axe-core.
func (a audit) check(what, within string) {
	a.Browser.T.Helper()
	if !a.hasAxe {
		return
	}
	found := Evaluate[[]finding](a.Browser, `axe.run(`+within+`, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"], preload: false, elementRef: false})
		.then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200)}))})))`)
	for _, f := range found {
		if f.Impact != "minor" {
			a.Browser.T.Errorf("%s: %s: %s: %s %v", what, f.Impact, f.ID, f.Help, f.Nodes)
		}
	}
}

// load opens a page in a window.
func (a audit) load(address string, width int64) {
	a.Browser.T.Helper()
	a.Resize(width, 844, width < 600)
	a.Open(address)
	a.WaitFor(`document.readyState == "complete"`)
}

// pages checks that pages fit windows of all widths: no word is broken, nothing is cut off or too small to click. axe-core
// checks each on a desk, a tablet, or, dark, on a phone; the long form checks each page on all of them.
func (a audit) pages(addresses []string) {
	a.Browser.T.Helper()
	for i, address := range addresses {
		a.load(address, 1440)
		for j, width := range []int64{1440, 768, 390} {
			a.Resize(width, 844, width < 600)
			what := fmt.Sprintf("%s at %d", address, width)
			a.WantFit(what)
			a.WantInside(what, "main *:not(.vh, .vh *, svg *, pre *, .menu-box, .menu-box *, .scroll *, .tabs *)")
			if longtest.Enabled() || i%3 == j {
				a.check(what, "document")
			}
		}
	}
}

// menus checks that the entries of the menu of the chats can be clicked in windows of all widths.
func (a audit) menus() {
	a.Browser.T.Helper()
	a.load("/console/chats", 1440)
	for _, width := range []int64{1440, 768, 390} {
		a.Resize(width, 900, false)
		a.ClickOn(".pane-menu summary")
		for _, entry := range []string{`[href="/console/search"]`, `[href*=archived]`, `[href="/console/import"]`} {
			a.WantSeen(".pane-menu .menu-box " + entry)
		}
		a.Do(Does(closed))
	}
}

// opened is what steps open on a page.
type opened struct {
	name, address, within string
	open, end             Steps
	leaves                bool // whether the page is another one afterwards
	onDesk                bool // whether phones have no such thing
}

// closed closes all that can be open.
const closed = `for (const one of document.querySelectorAll("dialog[open]")) one.close();
	for (const one of document.querySelectorAll("details[open]")) one.open = false;
	document.querySelector(":popover-open")?.hidePopover()`

// states checks what opens on pages, one after the other on the same page: the lists of emoji come last, because axe-core
// looks at all their buttons from then on. Only the long form checks everything at both widths.
func (a audit) states(list []opened, width int64) {
	a.Browser.T.Helper()
	at := ""
	for i, s := range list {
		if isPhone := width < 600; s.onDesk && isPhone || !longtest.Enabled() && !s.onDesk && (i%2 == 0) != isPhone {
			continue
		}
		if s.address != at {
			a.load(s.address, width)
		}
		if at = s.address; s.leaves {
			at = ""
		}
		a.Do(s.open...)
		a.check(fmt.Sprintf("%s at %d", s.name, width), JsString(s.within))
		a.Do(append(s.end, Does(closed))...)
	}
}

// world is a bridge that has something to show on every page.
type world struct {
	*Cast
	chat, about     string // pages of Ben's chat, and about the group
	group           simnet.JID
	invite          string // the page about the group of a link
	hello, imported string // ids of a message and of an import
	webhook         int64
}

// newWorld returns a bridge with messages, a group, an import, a webhook, a hook and a token.
func newWorld(t *testing.T) world {
	t.Helper()
	c := PairedCast(t, "ACCOUNTS=Olga=/,Berlin=https://berlin.example.com")
	w := world{Cast: c, chat: "/console/chats/" + bridge.JID(c.Ben.PN().String()).Escaped()}
	picture := simnet.Media{Data: demo.Picture(60, 40), Mimetype: "image/png", Caption: "the hills", Width: 60, Height: 40}
	Must(c.Ben.SendImage(Within(t), c.Owner.PN(), picture))(t)
	w.hello = Say(t, c.Ben, c.Owner.PN(), "Hello there, https://example.org/")
	Must(c.Ben.ReactTo(Within(t), c.Owner.PN(), c.Ben.PN(), w.hello, "👍"))(t)
	Must(c.Ben.SendPoll(Within(t), c.Owner.PN(), "When?", []string{"Saturday", "Sunday"}, 1))(t)
	Must(c.Ben.Pin(Within(t), c.Owner.PN(), c.Ben.PN(), w.hello, 24*time.Hour))(t)
	choir := NewGroup(t, c.Ben, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.Anna}})
	w.invite = "/console/invite/" + strings.TrimPrefix(Must(choir.Link(Within(t), c.Ben))(t), bridge.InviteLinkPrefix)
	group := Must(c.Owner.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{c.Ben}}))(t)
	w.group, w.about = group.JID(), Path("/console/chats/%s/info", group.JID())
	c.Stored(t, w.hello, Say(t, c.Ben, group.JID(), "hello"))
	Eventually(t, func() error {
		if got := c.Bridge.Get(Path("/api/groups/%s", group.JID())); got.Status != http.StatusOK {
			return fmt.Errorf("the group is %d", got.Status)
		}
		return nil
	})
	if err := errors.Join(c.Owner.EditLabel(Within(t), "7", "New customer", 2), c.Owner.LabelChat(Within(t), c.Ben.PN(), "7", true)); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		chat, err := c.Bridge.API.Chat(Within(t), bridge.JID(c.Ben.PN().String()))
		if err == nil && len(chat.Labels) == 0 {
			err = errors.New("the chat has no label")
		}
		return err
	})
	address, service, name, chosen := "https://hooks.example.com/x", "gitea", "Build server", c.Ben.PN().String()
	w.webhook = Must(c.Bridge.API.CreateWebhook(Within(t), client.WebhookChange{URL: &address}))(t).ID
	Must(c.Bridge.API.CreateHook(Within(t), client.HookChange{Name: &name, ChatJID: &chosen, Template: &service}))(t)
	Must(c.Bridge.API.CreateToken(Within(t), client.NewToken{Name: "Front desk", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{bridge.JID(chosen)}}))(t)
	w.imported = Must(c.Bridge.API.ImportChat(Within(t), client.ChatExport{Chat: "Old friends", Timezone: "UTC"}, strings.NewReader("24.12.25, 18:03 - Olga: hello\n")))(t).ID
	return w
}

// chatPages returns the pages about chats and people.
func (w world) chatPages() []string {
	return []string{
		"/console/", "/console/chats", "/console/labels", w.chat, w.chat + "/media", w.chat + "/media?tab=links", w.chat + "/media?tab=files", Path("/console/people/%s", w.Ben.PN()), w.about + "?invite",
		Path("/console/chats/%s/add", w.group), w.chat + "/messages/" + w.hello + "/forward", "/console/contacts", "/console/import", "/console/import/" + w.imported, "/console/new?q=b", "/console/new?phone=0123", "/console/new/group", w.invite,
	}
}

// otherPages returns all other pages.
func (w world) otherPages() []string {
	return []string{
		"/console/imports", "/console/search", "/console/search?q=hello+from:Ben", "/console/calls", "/console/events", "/console/events?event=1", "/console/webhooks", fmt.Sprint("/console/webhooks/", w.webhook), "/console/hooks", "/console/hooks/1",
		"/console/api", "/console/api/listChats", "/console/api/sendFile", "/console/pair", "/console/settings", "/console/profile", "/console/search?kind=starred", "/console/tokens", "/login",
	}
}

// states returns what opens on pages.
func (w world) states() []opened {
	menu := Opens(".msg-menu", `document.querySelector("#message-menu[open]")`)
	const dialog = "dialog[open]"
	chatMenu := Opens(".chat-head .menu > summary", `document.querySelector(".chat-head .menu[open]")`)
	asked := func(button string) Steps {
		return append(slices.Clone(chatMenu), Opens(".chat-head [value="+button+"]", `document.querySelector("dialog.ask[open]")`)...)
	}
	return []opened{
		{name: "the menu of a message", address: w.chat, within: dialog, open: menu},
		{name: "a picture", address: w.chat, within: dialog, open: Opens(".picture", `document.querySelector("#viewer[open] .shown img")?.complete`)},
		{name: "the menu of the open chat", address: w.chat, within: ".chat-head", open: chatMenu},
		{name: "clearing a chat", address: w.chat, within: dialog, open: asked("clear")},
		{name: "deleting a chat", address: w.chat, within: dialog, open: asked("delete")},
		{name: "a search within the chat", address: w.chat, within: ".chat", open: append(slices.Clone(chatMenu), append(Opens("[data-within]", `!document.querySelector("#within").hidden`), chromedp.SendKeys(chromedp.CSS("#within input"), "hello"), Becomes(`document.querySelector(".msg.found mark")`))...), end: Steps{Clicks("#within [data-close]")}},
		{name: "files", address: w.chat, within: dialog, open: Steps{Does(Pasted), Becomes(`document.querySelector("#files[open] .file-row")`)}, end: Steps{Clicks("#files [data-close]")}},
		{name: "the options of files", address: w.chat, within: dialog, open: append(Steps{Does(PastedVideo), Becomes(`[...document.querySelectorAll("#files [data-for]")].every(one => one.checkVisibility())`)}, Opens("#files .when summary", `document.querySelector("#files .when[open]")`)...), end: Steps{Clicks("#files [data-close]")}},
		{name: "the labels of a message", address: w.chat, within: dialog, open: FromMenu("[href*='?labels=']", `document.querySelector("#change[open] [name=label]")`)},
		{name: "pinning", address: w.chat, within: dialog, open: FromMenu("[href*='?pin=']", `document.querySelector("#change[open]")`)},
		{name: "forwarding", address: w.chat, within: dialog, open: FromMenu("[href$=forward]", `document.querySelector("dialog[open] .choices-list .chat-row")`)},
		{name: "recording", address: w.chat, within: "#composer", open: Opens("[data-record]", `!document.querySelector("#recording").hidden`), end: Steps{Clicks("#recording [data-cancel]")}},
		{name: "replying and attaching", address: w.chat, within: "#composer", open: append(FromMenu("[href*=reply]", `!document.querySelector("#replying").hidden`), Opens("[data-extras]", `document.querySelector("#extras").open`)...)},
		{name: "the emoji", address: w.chat, within: dialog, open: append(menu, append(Opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`), chromedp.SendKeys(chromedp.CSS("#emojis input"), "moon"))...)},
		{name: "emoji in a text", onDesk: true, address: w.chat, within: "#composer", open: append(Opens(".smile", `document.querySelector("#written-emojis .emoji")`), Does(`document.querySelector("#written-emojis input").value = "moon"; document.querySelector("#written-emojis input").dispatchEvent(new Event("input", {bubbles: true}))`), Becomes(`document.querySelectorAll("#written-emojis .emoji").length < 40`))},
		{name: "texts in the outbox", address: w.chat, within: "#history", open: Steps{Does(Unsent), Does(`location.reload()`), Loads(".unsent[data-state=failed]")}, end: Steps{Does(Forgotten)}, leaves: true},
		{name: "the menu of the chats", address: "/console/chats", within: ".pane-menu", open: Opens(".pane-menu > summary", `document.querySelector(".pane-menu[open]")`)},
		{name: "the menu of a chat", address: "/console/chats", within: dialog, onDesk: true, open: Opens("[data-menu-of-row]", `document.querySelector(".row-menu[open]")`)},
		{name: "the shortcuts", address: "/console/chats", within: dialog, open: Steps{Does(`document.querySelector("#shortcuts").showModal()`)}},
		{name: "the other pages", address: "/console/chats", within: ".rail", open: Steps{ClicksIt(`document.querySelector(innerWidth < 720 ? ".rail-more" : ".pane-head h2")`)}},
		{name: "what is found", address: "/console/chats", within: ".pane", open: Steps{chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "he"), Loads("#found mark")}},
		{name: "about a group next to its chat", onDesk: true, address: Path("/console/chats/%s", w.group), within: "#info", open: Steps{Clicks(".chat-who"), Loads("#info #members")}, end: Steps{Clicks("#info [data-close]")}},
		{name: "a question", address: w.about, within: dialog, open: append(Opens(".member:has([value=remove]) summary", "true"), Opens(".member [value=remove]", `document.querySelector("dialog.ask[open]")`)...)},
		{name: "the answer of a call", address: "/console/api/listChats", within: "#result", open: append(Opens("#try button.primary", "true"), Loads("#result")), leaves: true},
		{name: "what would be imported", address: "/console/import", within: "main", open: append(Checks(DoubtfulExport), Becomes(`document.querySelector("#review")`)), leaves: true},
		{name: "dates in doubt", address: "/console/import", within: "main", open: append(Checks("1/2/25, 10:00 - Olga: Hi\n"), Becomes(`document.querySelector("#dates")`)), leaves: true},
		{name: "a form with faults", address: "/console/webhooks", within: "main", open: Steps{Does(`(form => { form.noValidate = true; form.requestSubmit(); })(document.querySelector(".panel-body.fields"))`), Loads(".wrong")}, leaves: true},
		{name: "the accounts", address: "/console/calls", within: "#accounts", open: append(Opens(".account", `document.querySelector("#accounts:popover-open")`), Becomes(`document.querySelector(".account-state.good")`))},
	}
}

// TestConsole_FitsAndIsAccessible checks that every page fits its window, and every page and what is opened on them with
// axe-core: nothing that it finds may be more than minor. axe-core takes most of the time, so three windows share the work.
func TestConsole_FitsAndIsAccessible(t *testing.T) {
	t.Parallel()
	script, missing := fetchAxe(t)
	w := newWorld(t)
	for name, check := range map[string]func(audit){
		"pages of chats": func(a audit) { a.pages(w.chatPages()); a.menus() },
		"other pages":    func(a audit) { a.pages(w.otherPages()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAudit(t, w.Bridge, script)
			check(a)
			a.WantNoFaults()
		})
	}
	t.Run("opened", func(t *testing.T) {
		t.Parallel()
		if missing != nil {
			t.Skip(missing)
		}
		a := newAudit(t, w.Bridge, script)
		for _, width := range []int64{1280, 390} {
			a.states(w.states(), width)
		}
		a.FaultsOf(http.StatusBadRequest)
		a.FaultsOf(http.StatusConflict)
		a.WantNoFaults()
	})
}

// fetchAxe downloads axe-core from the npm registry. It returns an error that says what is missing if it cannot.
func fetchAxe(t *testing.T) (script string, missing error) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errors.New("npm is not installed: it fetches axe-core, which the pages are held against")
	}
	dir := t.TempDir()
	install := exec.CommandContext(Within(t), npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@"+axeVersion)
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("axe-core cannot be fetched: %w\n%.300s", err, out)
	}
	source, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source), nil
}
