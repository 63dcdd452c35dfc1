package docs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
)

// consoleBlock matches a block whose commands the pages' test does not run as they are printed.
var consoleBlock = regexp.MustCompile("(?ms)^ *```console\n(.*?)^ *```$")

// commandPages are those whose commands ConsoleCommands has.
var commandPages = []string{
	"../../../README.md", "../../../docs/shell.md", "../../../docs/operations.md", "../../../docs/upgrades.md", "../../../docs/fleet.md", "../../../deploy/kubernetes/README.md",
	"../../../CONTRIBUTING.md",
}

// A command that is new on a page needs a test, or a reason that there is none.
func TestDocs_EveryCommandIsRunOrSaysWhyNot(t *testing.T) {
	var tests []string
	for directory, names := range testsByDirectory(t) {
		if strings.HasPrefix(directory, "internal/e2e/") || directory == "cmd/bridged" {
			tests = append(tests, names...)
		}
	}
	found := make(map[string]bool)
	for _, page := range commandPages {
		text := Must(os.ReadFile(page))(t)
		for _, block := range consoleBlock.FindAllSubmatch(text, -1) {
			for line := range strings.Lines(string(block[1])) {
				command := strings.TrimSpace(line)
				if command == "" {
					continue
				}
				found[command] = true
				by, known := ConsoleCommands[command]
				if !known {
					t.Errorf("%s: no test runs %q: add it to ConsoleCommands", page, command)
				}
				if strings.HasPrefix(by, "Test") && !slices.Contains(tests, by) {
					t.Errorf("%s should run %q, and does not exist", by, command)
				}
			}
		}
	}
	for command := range ConsoleCommands {
		if !found[command] {
			t.Errorf("no page has the command %q any more", command)
		}
	}
}

// inlineCommand matches a command that a page names in its text.
var inlineCommand = regexp.MustCompile("`bridged ([a-z-]+)")

// TestDocs_NameTheCommandsThatThereAre: those of the program are on the pages for operators and of the shell, and pages name no other.
func TestDocs_NameTheCommandsThatThereAre(t *testing.T) {
	help := string(Must(Bridged("help").Output())(t))
	var names []string
	for _, row := range regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}\S`).FindAllStringSubmatch(help, -1) {
		names = append(names, row[1])
	}
	if len(names) < 20 {
		t.Fatalf("the help lists %d commands:\n%s", len(names), help)
	}
	table := string(Must(os.ReadFile("../../../docs/operations.md"))(t)) + string(Must(os.ReadFile("../../../docs/shell.md"))(t))
	for _, name := range names {
		if !regexp.MustCompile("`(?:bridged )?" + name + "[ `]").MatchString(table) {
			t.Errorf("neither docs/operations.md nor docs/shell.md names the command %s", name)
		}
	}
	for _, page := range documents(t) {
		for _, named := range inlineCommand.FindAllStringSubmatch(string(Must(os.ReadFile(page))(t)), -1) {
			if !slices.Contains(append(names, "help"), named[1]) {
				t.Errorf("%s names the command %s, which does not exist", page, named[1])
			}
		}
	}
}

// TestDocs_HaveOneFigureForSearch: README repeats the medians of the table of measurements.
func TestDocs_HaveOneFigureForSearch(t *testing.T) {
	table := string(Must(os.ReadFile("../../../docs/performance.md"))(t))
	_, table, ok := strings.Cut(table, "| 1,000,000 messages, ms | p50 | p99 |")
	if !ok {
		t.Fatal("docs/performance.md has no table of searches")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	least, most := 1e9, 0.0
	for _, row := range regexp.MustCompile(`(?m)^\| [^|]+\| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		for _, number := range regexp.MustCompile(`\d+(?:\.\d+)?`).FindAllString(row[1], -1) {
			var ms float64
			if _, err := fmt.Sscan(number, &ms); err != nil {
				t.Fatal(err)
			}
			least, most = min(least, ms), max(most, ms)
		}
	}
	want := fmt.Sprintf("%.1f to %.0f ms (median)", least, most)
	if !strings.Contains(string(Must(os.ReadFile("../../../README.md"))(t)), want) {
		t.Errorf("README does not say that searches take %s", want)
	}
}
