package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt is a part of a text, around words that were searched for. Found is empty if they
// stand there in another spelling, such as with ligatures, which the search also finds.
type Excerpt struct{ Before, Found, After string }

// Around returns the part of a text around words, on one line: so many characters before
// them and after them, and as many from the beginning if the words are not seen. Left-out
// text is marked with "…".
func Around(content, words string, before, after int) Excerpt {
	text := strings.Join(strings.Fields(content), " ")
	start, end := foundAt(text, strings.Join(strings.Fields(words), " "))
	if end == 0 {
		return Excerpt{Before: Beginning(text, before+after)}
	}
	e := Excerpt{text[:start], text[start:end], Beginning(text[end:], after)}
	if n := utf8.RuneCountInString(e.Before); n > before {
		e.Before = "…" + e.Before[byteOf(e.Before, n-before):]
	}
	return e
}

// Beginning returns at most so many characters of a text, and "…" if there are more.
func Beginning(text string, most int) string {
	if end := byteOf(text, most); end < len(text) {
		return text[:end] + "…"
	}
	return text
}

// foundAt returns where words stand in a text, whatever their case. Its time grows with
// the sum of the two lengths, not with their product: strangers write the texts.
func foundAt(text, words string) (start, end int) {
	if words == "" {
		return 0, 0
	}
	wanted := folded(words)
	at := strings.Index(folded(text), wanted)
	if at < 0 {
		return 0, 0
	}
	n := 0 // how long the folded text is up to i
	for i, r := range text {
		if n <= at {
			start = i
		}
		if n >= at+len(wanted) {
			return start, i
		}
		n += len(foldedRune(r))
	}
	return start, len(text)
}

// folded returns a text in which all cases of a letter are one, and ß is ss.
func folded(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		b.WriteString(foldedRune(r))
	}
	return b.String()
}

// foldedRune returns the same for all cases of a letter.
func foldedRune(r rune) string {
	if r == 'ß' || r == 'ẞ' {
		return "ss"
	}
	return string(unicode.ToLower(unicode.ToUpper(r))) // the long s, the Kelvin sign and the like change with the first
}
