package console

import "unicode/utf8"

// firstRune returns the first character of a text, and its length; a space of none.
func firstRune(text string) (r rune, size int) {
	if text == "" {
		return ' ', 0
	}
	return utf8.DecodeRuneInString(text)
}
