package bridge

import "strings"

// Remedy returns what to do about a sentence of [Status.LastError], or "" if there is no more to do than the
// sentence says.
func Remedy(lastError string) string {
	for _, r := range remedies {
		if BeginsLike(lastError, r.sentence) {
			return r.remedy
		}
	}
	return ""
}

// BeginsLike reports whether a text begins as a pattern does, in which … stands for any text.
func BeginsLike(text, pattern string) bool {
	parts := strings.Split(pattern, "…")
	rest, found := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:] {
		if found {
			_, rest, found = strings.Cut(rest, part)
		}
	}
	return found
}
