package store

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold brings text to the form in which substrings are looked for: case is
// folded in every script and canonically equal spellings become one. Folding
// comes between decomposing and composing, because some letters have a
// composed form in one case only.
func fold(s string) string {
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

// folded returns the column that goes beside content: null where they are equal,
// which in scripts without case is nearly always.
func folded(content string) any {
	if f := fold(content); f != content {
		return f
	}
	return nil
}

// blank reports whether a q is no filter at all.
func blank(q string) bool { return strings.TrimSpace(q) == "" }
