// Package docs makes the tables of these pages that describe the code, and checks them.
package docs

import (
	"fmt"
	"os"
	"strings"
)

// CheckTable returns an error if a page does not have a table as it was made from the code. With update, it
// writes the table into the page instead.
func CheckTable(page, name, made string, update bool) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- The table of "+name+" is written by go generate ./docs. -->\n\n", "\n<!-- The table ends. -->\n"
	before, rest, hasBegin := strings.Cut(string(text), begin)
	old, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		return fmt.Errorf("%s has no place for the table of %s", page, name)
	}
	return Compare(page, before+begin+old+end+after, before+begin+made+end+after, update)
}

// Compare returns an error if a generated file is not as it was made from the code. With update, it writes
// the file instead.
func Compare(path, old, made string, update bool) error {
	switch {
	case made == old:
		return nil
	case !update:
		return fmt.Errorf("%s is not up to date: run go generate ./docs", path)
	}
	return os.WriteFile(path, []byte(made), 0o600)
}
