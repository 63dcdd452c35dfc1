// Package folding makes the spellings of a text one, as searches do, and marks where one
// of them stands.
package folding

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
)

// Fold folds case in every script and makes canonically equal spellings one. It folds
// between decomposing and composing: some letters have a composed form in one case only.
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

// By returns how texts are folded for a search.
func By(fold bridge.Fold) func(string) string {
	if fold == bridge.FoldAccents {
		return FoldBare
	}
	return Fold
}

// FoldBare is [Fold], and then [Bare]: names, and texts where a search asks for it, are also
// found without accents.
func FoldBare(s string) string { return Bare(Fold(s)) }

// beginsSign reports whether a sign begins with s, which may stand within a character. The
// signs of a text are folded each on its own: none of them changes, or joins, the one before.
func beginsSign(s string) bool {
	if s[0] < utf8.RuneSelf || !utf8.RuneStart(s[0]) {
		return s[0] < utf8.RuneSelf
	}
	first, _ := utf8.DecodeRuneInString(s)
	return !unicode.Is(unicode.Mn, first) && norm.NFC.PropertiesString(s).BoundaryBefore() && norm.NFD.PropertiesString(s).BoundaryBefore()
}
