package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

const (
	allRules    = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`
	rulesOfLook = `{type: "rule", values: ["color-contrast", "target-size"]}`
)

// check reports what axe-core finds on the page as it stands.
func (a audit) check(what, rules string) {
	a.browser.t.Helper()
	found := evaluate[[]finding](a.browser, `axe.run(document, {runOnly: `+rules+`, resultTypes: ["violations"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200)}))})))`)
	for _, f := range found {
		if f.Impact != "minor" {
			a.browser.t.Errorf("%s: %s: %s: %s %v", what, f.Impact, f.ID, f.Help, f.Nodes)
		}
	}
}

// load opens a page in a window with the rules of axe-core.
func (a audit) load(address string, width int64, dark bool) {
	a.browser.t.Helper()
	a.resize(width, 844, dark)
	a.open(address)
	a.waitFor(`document.readyState == "complete"`)
	a.do(does(a.script))
}

// page checks a page on a desk and on a phone, light and dark. Themes differ in colours
// alone, so that each width has all rules once.
func (a audit) page(address string) {
	a.browser.t.Helper()
	a.load(address, 1280, false)
	a.check(address+", 1280, light", allRules)
	a.resize(1280, 844, true)
	a.check(address+", 1280, dark", rulesOfLook)
	a.resize(390, 844, true)
	a.check(address+", 390, dark", allRules)
	a.resize(390, 844, false)
	a.check(address+", 390, light", rulesOfLook)
}

// state checks what steps open on a page.
func (a audit) state(name, address string, open steps) {
	a.browser.t.Helper()
	for width, dark := range map[int64]bool{1280: false, 390: true} {
		a.load(address, width, dark)
		a.do(open...)
		a.check(fmt.Sprintf("%s, %d", name, width), allRules)
		a.resize(width, 844, !dark)
		a.check(fmt.Sprintf("%s, %d, the other theme", name, width), rulesOfLook)
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
	say(t, v.ben, group.JID(), "hello")
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
	about := path("/console/chats/%s/info", group.JID())
	for _, address := range []string{
		"/console/", "/console/chats", chat, chat + "/media", chat + "/media?tab=links", chat + "/media?tab=files", path("/console/people/%s", v.ben.PN()), about + "?invite",
		path("/console/chats/%s/add", group.JID()), chat + "/messages/" + hello + "/forward", "/console/contacts", "/console/new?q=b", "/console/new?phone=0123", "/console/new/group",
		"/console/search", "/console/search?q=hello+from:Ben", "/console/calls", "/console/events", "/console/webhooks", fmt.Sprint("/console/webhooks/", hook.ID), "/console/hooks", "/console/hooks/1",
		"/console/api", "/console/api/listChats", "/console/api/sendFile", "/console/pair", "/console/settings", "/console/tokens", "/login",
	} {
		a.page(address)
	}
	menu := opens(".msg-line > .menu > summary", `document.querySelector("#message-menu[open]")`)
	const dialog = `document.querySelector("dialog[open]")`
	for _, s := range []struct {
		name, address string
		open          steps
	}{
		{"the menu of a message", chat, menu},
		{"the emoji", chat, append(menu, opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`)...)},
		{"a picture", chat, opens(".picture", `document.querySelector("#viewer[open] .shown img")?.complete`)},
		{"the menu of the open chat", chat, opens(".chat-head .menu > summary", `document.querySelector(".chat-head .menu[open]")`)},
		{"attaching", chat, opens("[data-extras]", `document.querySelector("#extras").open`)},
		{"replying", chat, opens("[data-reply]", `!document.querySelector("#replying").hidden`)},
		{"recording", chat, append(opens("[data-record]", `!document.querySelector("#recording").hidden`), does(`addEventListener("pagehide", () => document.querySelector("#recording [data-cancel]").click())`))},
		{"files", chat, steps{does(pasted), becomes(`document.querySelector("#files[open] .file-row")`)}},
		{"forwarding", chat, opens(".menu-box [href$=forward]", `document.querySelector("dialog[open] .choices-list .chat-row")`)},
		{"texts in the outbox", chat, steps{does(unsent), does(`location.reload()`), loads(".unsent[data-state=failed]"), does(a.script), does(forgotten)}},
		{"the menu of the chats", "/console/chats", opens(".pane-menu > summary", `document.querySelector(".pane-menu[open]")`)},
		{"the menu of a chat", "/console/chats", opens("[data-menu-of-row]", dialog)},
		{"what is found", "/console/chats", steps{chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "he"), loads("#found mark")}},
		{"the shortcuts", "/console/chats", steps{does(`document.querySelector("#shortcuts").showModal()`)}},
		{"the other pages", "/console/settings", steps{does(`document.querySelector(".rail-more").click()`)}},
		{"a question", about, opens(".member [value=remove]", `document.querySelector("dialog.ask[open]")`)},
		{"the answer of a call", "/console/api/listChats", append(opens("#try button.primary", "true"), loads("#result"), does(a.script))},
		{"a form with faults", "/console/webhooks", steps{does(`(form => { form.noValidate = true; form.requestSubmit(); })(document.querySelector(".panel-body.fields"))`), loads(".wrong"), does(a.script)}},
	} {
		a.state(s.name, s.address, s.open)
	}
	v.faultsOf(http.StatusBadRequest)
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
