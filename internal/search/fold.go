package search

import (
	"strings"

	"bridged/internal/folding"
)

// Columns returns what goes beside content, for the searches that tell accents apart and for
// those that do not: null where it equals the one before.
func Columns(content string) (folded, bare any) {
	whole := folding.Fold(content)
	if whole != content {
		folded = whole
	}
	if without := folding.Bare(whole); without != whole {
		bare = without
	}
	return folded, bare
}

// textOf returns the text of a message m that searches look into, in SQL.
func textOf(bare bool) string {
	if bare {
		return "coalesce(m.bare, m.folded, m.content)"
	}
	return "ifnull(m.folded, m.content)"
}

// IsBlank reports whether a q is no filter at all.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
