package search

import (
	"strings"

	"bridged/internal/folding"
	"bridged/internal/store/db"
)

// between stands between the content of a message and its transcript, so that nothing is found
// across the two: no folded text has this character, which folds to another one, and it is no
// letter that takes marks from the text behind it.
const between = "\u2329"

// Folded returns the column that goes beside content, with the transcript of the message, which
// may be empty: null where it equals content.
func Folded(content, transcript string) any {
	f := folding.Fold(content)
	if transcript != "" {
		return f + between + folding.Fold(transcript)
	}
	if f != content {
		return f
	}
	return nil
}

// Define makes the function known to a connection that searches call in SQL.
func Define(c *db.Conn) error { return c.Define("bare", folding.Bare) }

// IsBlank reports whether a q is no filter at all.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
