package docs

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
)

// TestDocs_ExamplesRunAsPrinted runs every page against one demo.
func TestDocs_ExamplesRunAsPrinted(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "jq", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the examples need %s, which is not installed", program)
		}
	}
	d := StartDemo(t, "BRIDGE_TOKEN="+DocsToken)
	address := DemoAddress.FindStringSubmatch(d.Stdout.String())
	if address == nil {
		t.Fatalf("the demo prints no address:\n%s", d.Stdout)
	}
	blocks := secretBlocks(t, "../../../README.md")
	if len(blocks) != 1 {
		t.Fatalf("README makes .env in %d places", len(blocks))
	}
	runBlock(t, d.Dir, strings.ReplaceAll(blocks[0], "$(openssl rand -hex 24)", DocsToken))
	for _, page := range documents(t) {
		for i, output := range d.RunPage(page, address[1]) {
			if strings.Contains(output, `"error":`) {
				t.Errorf("%s, example %d is refused:\n%s", page, i+1, output)
			}
			if EmptyMatches.MatchString(output) {
				t.Errorf("%s, example %d searches for what is not there:\n%s", page, i+1, output)
			}
		}
	}
	d.RunConsoleCommands(address[1])
	d.Interrupt()
}

// documents returns the pages of documentation, README first.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return slices.Concat([]string{"../../../README.md"}, docs, []string{
		"../../../docs/adr/README.md", "../../../deploy/kubernetes/README.md",
		"../../../integrations/recipes.md", "../../../integrations/home-assistant/README.md",
	})
}

// TestDocs_ExamplesCanBePasted: zsh takes a # within a pasted line for a word, so
// that examples must not have comments behind commands.
func TestDocs_ExamplesCanBePasted(t *testing.T) {
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range ShellBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(block[1]) {
				if strings.Contains(line, " #") {
					t.Errorf("%s: a comment behind a command: %s", page, line)
				}
			}
		}
	}
}

// link matches a link to a file of the repository, possibly to a heading in it.
var link = regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)

// A merge that was not finished is no text to read.
func TestDocs_NoMergeIsLeftOpen(t *testing.T) {
	for _, page := range allPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains("\n"+string(text), "\n<<<<<<< ") {
			t.Errorf("%s has both sides of a merge", page)
		}
	}
}

// TestDocs_LinksLeadSomewhere follows the links between pages.
func TestDocs_LinksLeadSomewhere(t *testing.T) {
	for _, page := range allPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			target := page
			if found[1] != "" {
				target = filepath.Join(filepath.Dir(page), found[1])
			}
			content, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s links to %s: %v", page, found[1], err)
			} else if found[2] != "" && !hasHeading(string(content), found[2][1:]) {
				t.Errorf("%s links to a heading that %s does not have: %s", page, target, found[2])
			}
		}
	}
}

// allPages returns every page of the repository, with or without examples.
func allPages(t *testing.T) []string {
	t.Helper()
	return append(documents(t), "../../../CONTRIBUTING.md", "../../../SECURITY.md", "../../../CHANGELOG.md",
		"../../../integrations/chatwoot/README.md", "../../../integrations/n8n/README.md", "../../../integrations/agents.md", "../../../integrations/compatibility.md", "../../../deploy/accounts/README.md", "../../../deploy/README.md")
}

// Names of tests on pages: in the text, and in commands that run them.
var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)(…)?`")
	testCommand  = regexp.MustCompile(`go test \./(\S+).*? -(?:run|bench|fuzz) '?([A-Z][^\s'` + "`" + `]*)`)
)

// TestDocs_NamedTestsExist looks up every test that a page names or runs.
func TestDocs_NamedTestsExist(t *testing.T) {
	tests := testsByDirectory(t)
	all := slices.Concat(slices.Collect(maps.Values(tests))...)
	for _, page := range allPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range namedTest.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(all, func(name string) bool {
				return name == named[1] || named[2] != "" && strings.HasPrefix(name, named[1])
			}) {
				t.Errorf("%s names %s, which does not exist", page, named[1])
			}
		}
		for _, command := range testCommand.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(tests[command[1]], regexp.MustCompile(command[2]).MatchString) {
				t.Errorf("%s: nothing to run for %s", page, command[0])
			}
		}
	}
}

// testsByDirectory returns the names of all tests of the repository by directory.
func testsByDirectory(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	err := fs.WalkDir(os.DirFS("../../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("../../..", path))
		for _, f := range testFunction.FindAllStringSubmatch(string(text), -1) {
			tests[filepath.Dir(path)] = append(tests[filepath.Dir(path)], f[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// headingLine matches a heading of Markdown.
var headingLine = regexp.MustCompile(`(?m)^#+ (.+)$`)

// hasHeading reports whether a page has a heading with this anchor, as code hosts
// generate them.
func hasHeading(page, anchor string) bool {
	for _, heading := range headingLine.FindAllStringSubmatch(page, -1) {
		name := strings.ToLower(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(heading[1], ""))
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}
