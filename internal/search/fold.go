package search

import (
	"strings"

	"bridged/internal/folding"
	"bridged/internal/store/db"
)

// Folded returns the column that goes beside content: null where they are equal.
func Folded(content string) any {
	if f := folding.Fold(content); f != content {
		return f
	}
	return nil
}

// Define makes the function known to a connection that searches call in SQL.
func Define(c *db.Conn) error { return c.Define("bare", folding.Bare) }

// IsBlank reports whether a q is no filter at all.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
