package main

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"bridged/internal/api"
	"bridged/internal/mcp"
	"bridged/internal/oauth"
)

// entrance is a row of the table of entrances in SECURITY.md.
type entrance struct {
	patterns []string // a path; a * at the end stands for any rest
	tests    []string
}

// TestEntrances_EachHasItsBounds fails if a route has no row in SECURITY.md that says who may
// call it and what bounds it, or if a row names a test that does not exist.
func TestEntrances_EachHasItsBounds(t *testing.T) {
	rows := entrances(t)
	for _, path := range served(t) {
		if !isListed(rows, path) {
			t.Errorf("%s has no row in the table of entrances in SECURITY.md: say who may call it, and what bounds its memory, CPU, disk and time", path)
		}
	}
	known := testNames(t)
	for _, row := range rows {
		for _, name := range row.tests {
			if !known[name] {
				t.Errorf("%v: there is no %s", row.patterns, name)
			}
		}
	}
}

func isListed(rows []entrance, path string) bool {
	for _, row := range rows {
		for _, pattern := range row.patterns {
			prefix, isPrefix := strings.CutSuffix(pattern, "*")
			if pattern == path || isPrefix && strings.HasPrefix(path, prefix) {
				return true
			}
		}
	}
	return false
}

// served returns the paths at which the bridge can be reached: the API's routes, the prefixes
// of the other handlers, and the subject of NATS.
func served(t *testing.T) []string {
	t.Helper()
	paths := []string{"/", "/login", "/console/", "/mcp", "api"}
	for _, adapter := range adapters {
		paths = append(paths, adapter.prefix+"/")
	}
	paths = append(paths, oauth.New(oauth.Options{Path: mcp.Path}).Paths()...)
	err := chi.Walk(api.New(api.Options{}), func(_, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		paths = append(paths, route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

var (
	inTicks  = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// entrances reads the table of SECURITY.md.
func entrances(t *testing.T) (rows []entrance) {
	t.Helper()
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Entrance |")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 7 || !strings.Contains(cells[0], "`") {
			continue
		}
		var row entrance
		for _, found := range inTicks.FindAllStringSubmatch(cells[0], -1) {
			if found[1] == "/*" || found[1] == "/api/*" {
				t.Errorf("%s covers everything", found[1])
			}
			row.patterns = append(row.patterns, found[1])
		}
		for _, found := range inTicks.FindAllStringSubmatch(cells[6], -1) {
			row.tests = append(row.tests, found[1])
		}
		for i, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("%v: cell %d is empty", row.patterns, i+1)
			}
		}
		if len(row.tests) == 0 {
			t.Errorf("%v: no test", row.patterns)
		}
		rows = append(rows, row)
	}
	if len(rows) < 10 {
		t.Fatalf("SECURITY.md has %d rows", len(rows))
	}
	return rows
}

// testNames returns the names of all tests and fuzz targets.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range testName.FindAllSubmatch(source, -1) {
			names[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
