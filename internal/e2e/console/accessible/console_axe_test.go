package accessible

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
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

// audit holds pages against axe-core (WCAG 2.2 AA, and its best practices).
type audit struct {
	Visited
	script string
}

// check reports what axe-core finds within an element, as it stands: nothing may be more
// than minor.
func (a audit) check(what, within string) {
	a.Browser.T.Helper()
	found := Evaluate[[]finding](a.Browser, `axe.run(`+within+`, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"], preload: false, elementRef: false})
		.then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200)}))})))`)
	for _, f := range found {
		if f.Impact != "minor" {
			a.Browser.T.Errorf("%s: %s: %s: %s %v", what, f.Impact, f.ID, f.Help, f.Nodes)
		}
	}
}

// load opens a page in a window, with the rules of axe-core.
func (a audit) load(address string, width int64) {
	a.Browser.T.Helper()
	a.Resize(width, 844, width < 600)
	a.Open(address)
	a.WaitFor(`document.readyState == "complete"`)
	a.Do(Does(a.script))
}

// page checks a page on a desk and, dark, on a phone.
func (a audit) page(address string) {
	a.Browser.T.Helper()
	a.load(address, 1280)
	a.check(address+" at 1280, light", "document")
	a.Resize(390, 844, true)
	a.check(address+" at 390, dark", "document")
}

// opened is what steps open on a page.
type opened struct {
	name, address, within string
	open, end             Steps
	leaves                bool // whether the page is another one afterwards
}

// closed closes all that can be open.
const closed = `for (const one of document.querySelectorAll("dialog[open]")) one.close();
	for (const one of document.querySelectorAll("details[open]")) one.open = false;
	document.querySelector(":popover-open")?.hidePopover()`

// states checks what opens on pages, one after the other on the same page.
func (a audit) states(list []opened) {
	a.Browser.T.Helper()
	for _, width := range []int64{1280, 390} {
		at := ""
		for _, s := range list {
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
}

// TestConsole_IsAccessible checks every page, and what is opened on them: nothing that
// axe-core finds may be more than minor.
func TestConsole_IsAccessible(t *testing.T) {
	t.Parallel()
	a := audit{script: fetchAxe(t)}
	v := Visit(t)
	a.Visited = v
	picture := simnet.Media{Data: demo.Picture(60, 40), Mimetype: "image/png", Caption: "the hills", Width: 60, Height: 40}
	Must(v.Ben.SendImage(Within(t), v.Owner.PN(), picture))(t)
	hello := Say(t, v.Ben, v.Owner.PN(), "Hello there, https://example.org/")
	Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), hello, "👍"))(t)
	v.WantStored(v.Ben, "Hello there")
	chat := "/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped()
	group := Must(v.Owner.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{v.Ben}}))(t)
	v.Stored(t, Say(t, v.Ben, group.JID(), "hello"))
	Eventually(t, func() error {
		if got := v.Bridge.Get(Path("/api/groups/%s", group.JID())); got.Status != http.StatusOK {
			return fmt.Errorf("the group is %d", got.Status)
		}
		return nil
	})
	address, service, name, chosen := "https://hooks.example.com/x", "gitea", "Build server", v.Ben.PN().String()
	hook := Must(v.Bridge.API.CreateWebhook(Within(t), client.WebhookChange{URL: &address}))(t)
	Must(v.Bridge.API.CreateHook(Within(t), client.HookChange{Name: &name, ChatJID: &chosen, Template: &service}))(t)
	Must(v.Bridge.API.CreateToken(Within(t), client.NewToken{Name: "Front desk", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{bridge.JID(chosen)}}))(t)
	imported := Must(v.Bridge.API.ImportChat(Within(t), client.ChatExport{Chat: "Old friends"}, strings.NewReader("24.12.25, 18:03 - Olga: hello\n")))(t)
	about := Path("/console/chats/%s/info", group.JID())
	for _, address := range []string{
		"/console/", "/console/chats", chat, chat + "/media", chat + "/media?tab=links", chat + "/media?tab=files", Path("/console/people/%s", v.Ben.PN()), about + "?invite",
		Path("/console/chats/%s/add", group.JID()), chat + "/messages/" + hello + "/forward", "/console/contacts", "/console/import", "/console/import/" + imported.ID, "/console/new?q=b", "/console/new?phone=0123", "/console/new/group",
		"/console/search", "/console/search?q=hello+from:Ben", "/console/calls", "/console/events", "/console/webhooks", fmt.Sprint("/console/webhooks/", hook.ID), "/console/hooks", "/console/hooks/1",
		"/console/api", "/console/api/listChats", "/console/api/sendFile", "/console/pair", "/console/settings", "/console/tokens", "/login",
	} {
		a.page(address)
	}
	menu := Opens(".msg-line > .menu > summary", `document.querySelector("#message-menu[open]")`)
	const dialog = "dialog[open]"
	a.states([]opened{
		{name: "the menu of a message", address: chat, within: dialog, open: menu},
		{name: "the emoji", address: chat, within: dialog, open: append(menu, append(Opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`), chromedp.SendKeys(chromedp.CSS("#emojis input"), "moon"))...)},
		{name: "a picture", address: chat, within: dialog, open: Opens(".picture", `document.querySelector("#viewer[open] .shown img")?.complete`)},
		{name: "the menu of the open chat", address: chat, within: ".chat-head", open: Opens(".chat-head .menu > summary", `document.querySelector(".chat-head .menu[open]")`)},
		{name: "files", address: chat, within: dialog, open: Steps{Does(Pasted), Becomes(`document.querySelector("#files[open] .file-row")`)}, end: Steps{Does(`document.querySelector("#files [data-close]").click()`)}},
		{name: "forwarding", address: chat, within: dialog, open: Opens(".menu-box [href$=forward]", `document.querySelector("dialog[open] .choices-list .chat-row")`)},
		{name: "recording", address: chat, within: "#composer", open: Opens("[data-record]", `!document.querySelector("#recording").hidden`), end: Steps{Does(`document.querySelector("#recording [data-cancel]").click()`)}},
		{name: "replying and attaching", address: chat, within: "#composer", open: append(Opens("[data-reply]", `!document.querySelector("#replying").hidden`), Opens("[data-extras]", `document.querySelector("#extras").open`)...)},
		{name: "emoji in a text", address: chat, within: "#composer", open: append(Opens(".smile", `document.querySelector("#written-emojis .emoji")`), Does(`document.querySelector("#written-emojis input").value = "moon"; document.querySelector("#written-emojis input").dispatchEvent(new Event("input", {bubbles: true}))`), Becomes(`document.querySelectorAll("#written-emojis .emoji").length < 40`))},
		{name: "texts in the outbox", address: chat, within: "#history", open: Steps{Does(Unsent), Does(`location.reload()`), Loads(".unsent[data-state=failed]"), Does(a.script)}, end: Steps{Does(Forgotten)}, leaves: true},
		{name: "the menu of the chats", address: "/console/chats", within: ".pane-menu", open: Opens(".pane-menu > summary", `document.querySelector(".pane-menu[open]")`)},
		{name: "the menu of a chat", address: "/console/chats", within: dialog, open: Opens("[data-menu-of-row]", `document.querySelector(".row-menu[open]")`)},
		{name: "the shortcuts", address: "/console/chats", within: dialog, open: Steps{Does(`document.querySelector("#shortcuts").showModal()`)}},
		{name: "the other pages", address: "/console/chats", within: ".rail", open: Steps{Does(`document.querySelector(".rail-more").click()`)}},
		{name: "what is found", address: "/console/chats", within: ".pane", open: Steps{chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "he"), Loads("#found mark")}},
		{name: "a question", address: about, within: dialog, open: Opens(".member [value=remove]", `document.querySelector("dialog.ask[open]")`)},
		{name: "the answer of a call", address: "/console/api/listChats", within: "#result", open: append(Opens("#try button.primary", "true"), Loads("#result"), Does(a.script)), leaves: true},
		{name: "what would be imported", address: "/console/import", within: "main", open: append(Checks(DoubtfulExport), Becomes(`document.querySelector("#review")`)), leaves: true},
		{name: "dates in doubt", address: "/console/import", within: "main", open: append(Checks("1/2/25, 10:00 - Olga: Hi\n"), Becomes(`document.querySelector("#dates")`)), leaves: true},
		{name: "a form with faults", address: "/console/webhooks", within: "main", open: Steps{Does(`(form => { form.noValidate = true; form.requestSubmit(); })(document.querySelector(".panel-body.fields"))`), Loads(".wrong"), Does(a.script)}, leaves: true},
	})
	v.FaultsOf(http.StatusBadRequest)
	v.FaultsOf(http.StatusConflict)
	v.WantNoFaults()
}

// fetchAxe downloads axe-core from the npm registry, or skips the test if it
// cannot.
func fetchAxe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed: it fetches axe-core, which the pages are held against")
	}
	dir := t.TempDir()
	install := exec.CommandContext(Within(t), npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@"+axeVersion)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("axe-core cannot be fetched: %v\n%.300s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s; undefined", script)
}
