package search

import (
	"strings"

	"bridged/internal/folding"
)

// between stands between the content of a message and its transcript, so that nothing is found
// across the two: no folded text has this character, which folds to another one, and it is no
// letter that takes marks from the text behind it.
const between = "\u2329"

// Columns returns what goes beside content, with the message's transcript, which may be empty: for
// the searches that tell accents apart and for those that do not, null where it equals the one
// before.
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

// textOf returns the text of a message m that searches look into, in SQL.
func textOf(bare bool) string {
	if bare {
		return "coalesce(m.bare, m.folded, m.content)"
	}
	return "ifnull(m.folded, m.content)"
}

// IsBlank reports whether a q is no filter at all.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
