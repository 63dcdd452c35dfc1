package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold folds case in every script and makes canonically equal spellings one. It folds
// between decomposing and composing: some letters have a composed form in one case only.
func Fold(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(s)))
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

// FoldName is [Fold] for names, which are also found without the accents of Latin, Greek and
// Cyrillic letters and the points of Hebrew and Arabic ones. In other scripts, marks make
// letters: those of kana and Indic vowels stay.
func FoldName(s string) string {
	s = Fold(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return s
	}
	var b strings.Builder
	bare := false
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			bare = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
		} else if bare {
			continue
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}
