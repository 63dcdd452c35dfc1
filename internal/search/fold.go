package search

import (
	"strings"

	"bridged/internal/folding"
)

// between separates the content of a message from its transcript, so that no match spans the two.
// No case-folded text contains this character, because it folds to another one, and it takes no
// marks from the text after it.
const between = "\u2329"

// Columns returns the two search columns of a message with content and, if not empty, transcript.
// folded is case-folded; bare is also without accents. A column is nil if it equals the one
// before it (content, folded).
func Columns(content, transcript string) (folded, bare any) {
	whole := folding.Fold(content)
	if transcript != "" {
		whole += between + folding.Fold(transcript)
	}
	if whole != content {
		folded = whole
	}
	if without := folding.StripAccents(whole); without != whole {
		bare = without
	}
	return folded, bare
}

// textOf returns the SQL for the text of a message m that searches compare.
func textOf(stripped bool) string {
	if stripped {
		return "coalesce(m.bare, m.folded, m.content)"
	}
	return "ifnull(m.folded, m.content)"
}

// IsBlank reports whether q is empty apart from white space.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
