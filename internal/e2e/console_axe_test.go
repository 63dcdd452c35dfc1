package e2e

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
	visited
	script string
}

// check reports what axe-core finds within an element, as it stands: nothing may be more
// than minor.
func (a audit) check(what, within string) {
	a.browser.t.Helper()
	found := evaluate[[]finding](a.browser, `axe.run(`+within+`, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"], preload: false, elementRef: false})
		.then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200)}))})))`)
	for _, f := range found {
		if f.Impact != "minor" {
			a.browser.t.Errorf("%s: %s: %s: %s %v", what, f.Impact, f.ID, f.Help, f.Nodes)
		}
	}
}

// load opens a page in a window, with the rules of axe-core.
func (a audit) load(address string, width int64) {
	a.browser.t.Helper()
	a.resize(width, 844, width < 600)
	a.open(address)
	a.waitFor(`document.readyState == "complete"`)
	a.do(does(a.script))
}

// page checks a page on a desk and, dark, on a phone.
func (a audit) page(address string) {
	a.browser.t.Helper()
	a.load(address, 1280)
	a.check(address+" at 1280, light", "document")
	a.resize(390, 844, true)
	a.check(address+" at 390, dark", "document")
}

// opened is what steps open on a page.
type opened struct {
	name, address, within string
	open, end             steps
	leaves                bool // whether the page is another one afterwards
}

// closed closes all that can be open.
const closed = `for (const one of document.querySelectorAll("dialog[open]")) one.close();
	for (const one of document.querySelectorAll("details[open]")) one.open = false;
	document.querySelector(":popover-open")?.hidePopover()`

// states checks what opens on pages, one after the other on the same page.
func (a audit) states(list []opened) {
	a.browser.t.Helper()
	for _, width := range []int64{1280, 390} {
		at := ""
		for _, s := range list {
			if s.address != at {
				a.load(s.address, width)
			}
			if at = s.address; s.leaves {
				at = ""
			}
			a.do(s.open...)
			a.check(fmt.Sprintf("%s at %d", s.name, width), jsString(s.within))
			a.do(append(s.end, does(closed))...)
		}
	}
}

// TestConsole_IsAccessible checks every page, and what is opened on them: nothing that
// axe-core finds may be more than minor.
func TestConsole_IsAccessible(t *testing.T) {
	t.Parallel()
	a := audit{script: fetchAxe(t)}
	v := visit(t)
	a.visited = v
	picture := simnet.Media{Data: demo.Picture(60, 40), Mimetype: "image/png", Caption: "the hills", Width: 60, Height: 40}
	must(v.ben.SendImage(within(t), v.owner.PN(), picture))(t)
	hello := say(t, v.ben, v.owner.PN(), "Hello there, https://example.org/")
	must(v.ben.ReactTo(within(t), v.owner.PN(), v.ben.PN(), hello, "👍"))(t)
	v.wantStored(v.ben, "Hello there")
	chat := "/console/chats/" + bridge.JID(v.ben.PN().String()).Escaped()
	group := must(v.owner.CreateGroup(within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{v.ben}}))(t)
	v.stored(t, say(t, v.ben, group.JID(), "hello"))
	eventually(t, func() error {
		if got := v.bridge.Get(path("/api/groups/%s", group.JID())); got.Status != http.StatusOK {
			return fmt.Errorf("the group is %d", got.Status)
		}
		return nil
	})
	address, service, name, chosen := "https://hooks.example.com/x", "gitea", "Build server", v.ben.PN().String()
	hook := must(v.bridge.api.CreateWebhook(within(t), client.WebhookChange{URL: &address}))(t)
	must(v.bridge.api.CreateHook(within(t), client.HookChange{Name: &name, ChatJID: &chosen, Template: &service}))(t)
	must(v.bridge.api.CreateToken(within(t), client.NewToken{Name: "Front desk", Scopes: []bridge.Scope{bridge.ScopeRead}, Chats: []bridge.JID{bridge.JID(chosen)}}))(t)
	imported := must(v.bridge.api.ImportChat(within(t), client.ChatExport{Chat: "Old friends"}, strings.NewReader("24.12.25, 18:03 - Olga: hello\n")))(t)
	about := path("/console/chats/%s/info", group.JID())
	for _, address := range []string{
		"/console/", "/console/chats", chat, chat + "/media", chat + "/media?tab=links", chat + "/media?tab=files", path("/console/people/%s", v.ben.PN()), about + "?invite",
		path("/console/chats/%s/add", group.JID()), chat + "/messages/" + hello + "/forward", "/console/contacts", "/console/import", "/console/import/" + imported.ID, "/console/new?q=b", "/console/new?phone=0123", "/console/new/group",
		"/console/search", "/console/search?q=hello+from:Ben", "/console/calls", "/console/events", "/console/webhooks", fmt.Sprint("/console/webhooks/", hook.ID), "/console/hooks", "/console/hooks/1",
		"/console/api", "/console/api/listChats", "/console/api/sendFile", "/console/pair", "/console/settings", "/console/tokens", "/login",
	} {
		a.page(address)
	}
	menu := opens(".msg-line > .menu > summary", `document.querySelector("#message-menu[open]")`)
	const dialog = "dialog[open]"
	a.states([]opened{
		{name: "the menu of a message", address: chat, within: dialog, open: menu},
		{name: "the emoji", address: chat, within: dialog, open: append(menu, append(opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`), chromedp.SendKeys(chromedp.CSS("#emojis input"), "moon"))...)},
		{name: "a picture", address: chat, within: dialog, open: opens(".picture", `document.querySelector("#viewer[open] .shown img")?.complete`)},
		{name: "the menu of the open chat", address: chat, within: ".chat-head", open: opens(".chat-head .menu > summary", `document.querySelector(".chat-head .menu[open]")`)},
		{name: "files", address: chat, within: dialog, open: steps{does(pasted), becomes(`document.querySelector("#files[open] .file-row")`)}, end: steps{does(`document.querySelector("#files [data-close]").click()`)}},
		{name: "forwarding", address: chat, within: dialog, open: opens(".menu-box [href$=forward]", `document.querySelector("dialog[open] .choices-list .chat-row")`)},
		{name: "recording", address: chat, within: "#composer", open: opens("[data-record]", `!document.querySelector("#recording").hidden`), end: steps{does(`document.querySelector("#recording [data-cancel]").click()`)}},
		{name: "replying and attaching", address: chat, within: "#composer", open: append(opens("[data-reply]", `!document.querySelector("#replying").hidden`), opens("[data-extras]", `document.querySelector("#extras").open`)...)},
		{name: "emoji in a text", address: chat, within: "#composer", open: append(opens(".smile", `document.querySelector("#written-emojis .emoji")`), does(`document.querySelector("#written-emojis input").value = "moon"; document.querySelector("#written-emojis input").dispatchEvent(new Event("input", {bubbles: true}))`), becomes(`document.querySelectorAll("#written-emojis .emoji").length < 40`))},
		{name: "texts in the outbox", address: chat, within: "#history", open: steps{does(unsent), does(`location.reload()`), loads(".unsent[data-state=failed]"), does(a.script)}, end: steps{does(forgotten)}, leaves: true},
		{name: "the menu of the chats", address: "/console/chats", within: ".pane-menu", open: opens(".pane-menu > summary", `document.querySelector(".pane-menu[open]")`)},
		{name: "the menu of a chat", address: "/console/chats", within: dialog, open: opens("[data-menu-of-row]", `document.querySelector(".row-menu[open]")`)},
		{name: "the shortcuts", address: "/console/chats", within: dialog, open: steps{does(`document.querySelector("#shortcuts").showModal()`)}},
		{name: "the other pages", address: "/console/chats", within: ".rail", open: steps{does(`document.querySelector(".rail-more").click()`)}},
		{name: "what is found", address: "/console/chats", within: ".pane", open: steps{chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "he"), loads("#found mark")}},
		{name: "a question", address: about, within: dialog, open: opens(".member [value=remove]", `document.querySelector("dialog.ask[open]")`)},
		{name: "the answer of a call", address: "/console/api/listChats", within: "#result", open: append(opens("#try button.primary", "true"), loads("#result"), does(a.script)), leaves: true},
		{name: "what would be imported", address: "/console/import", within: "main", open: append(checks(doubtfulExport), becomes(`document.querySelector("#review")`)), leaves: true},
		{name: "dates in doubt", address: "/console/import", within: "main", open: append(checks("1/2/25, 10:00 - Olga: Hi\n"), becomes(`document.querySelector("#dates")`)), leaves: true},
		{name: "a form with faults", address: "/console/webhooks", within: "main", open: steps{does(`(form => { form.noValidate = true; form.requestSubmit(); })(document.querySelector(".panel-body.fields"))`), loads(".wrong"), does(a.script)}, leaves: true},
	})
	v.faultsOf(http.StatusBadRequest)
	v.faultsOf(http.StatusConflict)
	v.wantNoFaults()
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
	install := exec.CommandContext(within(t), npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@"+axeVersion)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("axe-core cannot be fetched: %v\n%.300s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s; undefined", script)
}
