// Package folding normalises texts for searches: case, equivalent Unicode spellings and, on
// request, accents. It also marks the matches of a search in a text.
package folding

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
)

// Fold case-folds a text in every script and makes canonically equivalent spellings equal.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// By returns the function that folds texts for a search.
func By(fold bridge.Fold) func(string) string {
	if fold == bridge.FoldAccents {
		return FoldStripped
	}
	return Fold
}

// FoldStripped is [Fold] followed by [StripAccents]. Names are always compared this way; texts
// are if a search asks for it.
func FoldStripped(s string) string { return StripAccents(Fold(s)) }

// isBoundary reports whether a Unicode normalisation boundary is at the start of s, which may
// begin within a character. Text between two boundaries can be folded on its own: folding it
// neither changes nor joins the text before it.
func isBoundary(s string) bool {
	if s[0] < utf8.RuneSelf || !utf8.RuneStart(s[0]) {
		return s[0] < utf8.RuneSelf
	}
	first, _ := utf8.DecodeRuneInString(s)
	return !unicode.Is(unicode.Mn, first) && norm.NFC.PropertiesString(s).BoundaryBefore() && norm.NFD.PropertiesString(s).BoundaryBefore()
}
