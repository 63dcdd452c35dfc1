package search

import (
	"strings"

	"bridged/internal/folding"
)

// Folded returns the column that goes beside content: null where they are equal.
func Folded(content string) any {
	if f := folding.Fold(content); f != content {
		return f
	}
	return nil
}

// IsBlank reports whether a q is no filter at all.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
