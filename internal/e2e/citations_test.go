package e2e

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testFunction  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	citedTest     = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)(…|\\*)?`")
	testsByRoom   = regexp.MustCompile("(?:\\b([a-z0-9]+) )?`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)`")
	testCommand   = regexp.MustCompile(`(?m)^ {4}go test \./(\S+).* -run '?([^\s']+)`)
	decision      = regexp.MustCompile(`(?m)^##+ (D\d+(?:\.\d+)?) `)
	citedDecision = regexp.MustCompile(`//.*\b(D\d+(?:\.\d+)?)\b`)
	citedFile     = regexp.MustCompile("`([^`]+)`")
)

// TestCitations_TestsExist finds every test that a page names, and something
// to run for every command that it prints.
func TestCitations_TestsExist(t *testing.T) {
	t.Parallel()
	tests := testFunctions(t)
	all := slices.Concat(slices.Collect(maps.Values(tests))...)
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/decisions.md", "docs/reliability.md", "docs/performance.md", "docs/architecture.md"} {
		text := readRepositoryFile(t, page)
		for _, cited := range citedTest.FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(all, func(name string) bool {
				return name == cited[1] || cited[2] != "" && strings.HasPrefix(name, cited[1])
			}) {
				t.Errorf("%s names %s, which does not exist", page, cited[1])
			}
		}
		for _, command := range testCommand.FindAllStringSubmatch(text, -1) {
			if command[2] != "^$" && !slices.ContainsFunc(tests[command[1]], regexp.MustCompile(command[2]).MatchString) {
				t.Errorf("%s: there is nothing to run for %s", page, command[0])
			}
		}
	}
}

// TestCitations_DecisionsHaveTests: each decision names the tests that hold it,
// in the package where they are, or the files where it is made.
func TestCitations_DecisionsHaveTests(t *testing.T) {
	t.Parallel()
	tests := testFunctions(t)
	for _, entry := range strings.Split(readRepositoryFile(t, "docs/decisions.md"), "\n### ")[1:] {
		id, _, _ := strings.Cut(entry, " ")
		entry, _, _ = strings.Cut(entry, "\n## ")
		if _, source, found := strings.Cut(entry, "\nSource: "); found {
			for _, file := range citedFile.FindAllStringSubmatch(source, -1) {
				readRepositoryFile(t, file[1])
			}
			continue
		}
		_, held, _ := strings.Cut(entry, "\nTests: ")
		cited := testsByRoom.FindAllStringSubmatch(strings.ReplaceAll(held, "\n", " "), -1)
		if len(cited) == 0 {
			t.Errorf("%s names no test", id)
		}
		room := ""
		for _, c := range cited {
			if c[1] != "" {
				room = c[1]
			}
			if !slices.Contains(tests[directoryOf(room)], c[2]) {
				t.Errorf("%s: there is no %s in %s", id, c[2], directoryOf(room))
			}
		}
	}
}

// directoryOf returns where a package lies that the decisions name.
func directoryOf(room string) string {
	switch room {
	case "cmd":
		return "cmd/bridged"
	case "apitest":
		return "internal/api/apitest"
	}
	return "internal/" + room
}

// TestCitations_DecisionsExist: the ids in comments lead to a decision, and no
// id stands for two.
func TestCitations_DecisionsExist(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, heading := range decision.FindAllStringSubmatch(readRepositoryFile(t, "docs/decisions.md"), -1) {
		if ids[heading[1]] {
			t.Errorf("%s stands twice", heading[1])
		}
		ids[heading[1]] = true
	}
	eachGoFile(t, func(path, text string) {
		for _, cited := range citedDecision.FindAllStringSubmatch(text, -1) {
			if !ids[cited[1]] {
				t.Errorf("%s cites %s, which docs/decisions.md does not have", path, cited[1])
			}
		}
	})
}

// testFunctions returns the names of all tests by their directories.
func testFunctions(t *testing.T) map[string][]string {
	t.Helper()
	tests := map[string][]string{}
	eachGoFile(t, func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			for _, f := range testFunction.FindAllStringSubmatch(text, -1) {
				dir := filepath.ToSlash(filepath.Dir(path))
				tests[dir] = append(tests[dir], f[1])
			}
		}
	})
	return tests
}

// eachGoFile calls f with every Go file of the repository: its path in it, and
// its text.
func eachGoFile(t *testing.T, f func(path, text string)) {
	t.Helper()
	for _, root := range []string{"internal", "cmd", "migrations"} {
		err := fs.WalkDir(os.DirFS("../.."), root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				f(path, readRepositoryFile(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readRepositoryFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
