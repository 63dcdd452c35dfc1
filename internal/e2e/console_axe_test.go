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

// TestConsole_IsAccessible checks every page with axe-core (WCAG 2.2 AA), in both
// colour schemes.
func TestConsole_IsAccessible(t *testing.T) {
	t.Parallel()
	script := fetchAxe(t)
	v := visit(t)
	hello := say(t, v.ben, v.owner.PN(), "Hello there, https://example.org/")
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
	people := []string{
		"/console/contacts", "/console/new?q=b", "/console/new?phone=0123", "/console/new/group", path("/console/people/%s", v.ben.PN()), path("/console/chats/%s/info?invite", group.JID()),
		path("/console/chats/%s/add", group.JID()), chat + "/messages/" + hello + "/forward",
	}
	for _, address := range append(people, "/console/", "/console/chats", chat, "/console/search?q=hello", "/console/events", "/console/webhooks", "/console/hooks", "/console/pair", "/console/api", "/console/settings", "/console/tokens", "/login") {
		for _, dark := range []bool{false, true} {
			v.resize(1280, 800, dark)
			v.open(address)
			v.waitFor(`document.readyState == "complete"`)
			v.do(chromedp.Evaluate[chromedp.Void](script))
			found := evaluate[[]finding](v.browser, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html.slice(0, 200)}))})))`)
			for _, f := range found {
				if f.Impact == "serious" || f.Impact == "critical" {
					t.Errorf("%s (dark: %v): %s: %s %v", address, dark, f.ID, f.Help, f.Nodes)
				}
			}
		}
	}
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
