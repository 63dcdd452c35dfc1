package search

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
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

// Folded returns the column that goes beside content: null where they are equal.
func Folded(content string) any {
	if f := Fold(content); f != content {
		return f
	}
	return nil
}

// IsBlank reports whether a q is no filter at all.
func IsBlank(q string) bool { return strings.TrimSpace(q) == "" }
