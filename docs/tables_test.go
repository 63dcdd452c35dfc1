// Package docs makes the tables of these pages that describe the code, and checks them.
package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

//go:generate go test . -run TestTables -update

const module = "bridged/"

var update = flag.Bool("update", false, "write the tables into the pages")

// TestTables compares the tables of the pages with the code.
func TestTables(t *testing.T) {
	for _, table := range []struct {
		page, name string
		make       func(*testing.T) string
	}{
		{"configuration.md", "variables", variables},
		{"operations.md", "lastError", remedies},
		{"architecture.md", "packages", packages},
	} {
		t.Run(table.name, func(t *testing.T) {
			text, err := os.ReadFile(table.page)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := "<!-- The table of "+table.name+" is written by go generate ./docs. -->\n\n", "\n<!-- The table ends. -->\n"
			before, rest, hasBegin := strings.Cut(string(text), begin)
			old, after, hasEnd := strings.Cut(rest, end)
			if !hasBegin || !hasEnd {
				t.Fatalf("%s has no place for the table of %s", table.page, table.name)
			}
			switch made := table.make(t); {
			case made == old:
			case !*update:
				t.Errorf("%s does not have the present table of %s: run go generate ./docs", table.page, table.name)
			default:
				if err := os.WriteFile(table.page, []byte(before+begin+made+end+after), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// variables lists the fields of config.Config: the comment of each is its sentence.
func variables(t *testing.T) string {
	table := new(strings.Builder)
	table.WriteString("| Variable | Default | |\n|---|---|---|\n")
	ast.Inspect(parse(t, "../internal/config/config.go"), func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return true
		}
		tag := reflect.StructTag(must(strconv.Unquote(field.Tag.Value))(t))
		name := tag.Get("env")
		if name == "" {
			return true
		}
		sentence := strings.TrimSuffix(oneLine(field.Doc), ".")
		if sentence == "" {
			t.Errorf("the field of %s has no comment", name)
		}
		usual := tag.Get("envDefault")
		if usual != "" {
			usual = "`" + usual + "`"
		}
		fmt.Fprintf(table, "| `%s` | %s | %s |\n", name, usual, sentence)
		return true
	})
	return table.String()
}

// verb matches a verb of a format.
var verb = regexp.MustCompile(`%[a-z]`)

// remedies lists the sentences of lastError that have a comment with a remedy.
func remedies(t *testing.T) string {
	var rows []string
	for _, dir := range []string{"wa", "fleet", "dbfile", "store"} {
		for _, path := range must(filepath.Glob("../internal/" + dir + "/*.go"))(t) {
			file := parse(t, path)
			for _, comment := range file.Comments {
				if _, remedy, ok := strings.Cut(oneLine(comment), "Remedy: "); ok {
					rows = append(rows, fmt.Sprintf("| %s | %s |\n", sentenceAfter(t, file, comment.End()), strings.TrimSuffix(remedy, ".")))
				}
			}
		}
	}
	slices.Sort(rows)
	return "| It says | What to do |\n|---|---|\n" + strings.Join(rows, "")
}

// sentenceAfter returns the first text of a file after a position, with "…" for its variable parts.
func sentenceAfter(t *testing.T, file *ast.File, pos token.Pos) string {
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && text == "" && literal.Kind == token.STRING && literal.Pos() > pos {
			text = must(strconv.Unquote(literal.Value))(t)
		}
		return true
	})
	start, _, _ := strings.Cut(text, ": ")
	start, _, _ = strings.Cut(start, " (")
	if strings.HasSuffix(start, " ") || strings.HasSuffix(start, "=") {
		start += "…"
	}
	return verb.ReplaceAllString(start, "…")
}

// packages lists the packages that cmd/bridged is made of, with the first sentence of their
// comments, up to a colon.
func packages(t *testing.T) string {
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}\t{{.Doc}}", "./cmd/bridged")
	list.Dir = ".."
	lines := slices.Sorted(strings.Lines(string(must(list.Output())(t))))
	table := new(strings.Builder)
	table.WriteString("| Package | |\n|---|---|\n")
	for _, line := range lines {
		path, doc, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(path, module) && path != module+"cmd/bridged" {
			fmt.Fprintf(table, "| `%s` | %s |\n", short(path), charter(doc))
		}
	}
	return table.String()
}

// short removes the module's name, and internal/, from the path of a package.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "internal/")
}

// subject matches the first words of a package's comment.
var subject = regexp.MustCompile(`^(?:Package|Command) \w+ `)

// charter returns what a package does, from the first sentence of its comment.
func charter(doc string) string {
	start, _, _ := strings.Cut(subject.ReplaceAllString(doc, ""), ": ")
	return strings.TrimSuffix(start, ".")
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	return must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))(t)
}

// oneLine returns the text of a comment without line breaks.
func oneLine(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
