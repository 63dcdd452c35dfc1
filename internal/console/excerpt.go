package console

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Characters that stand before and behind the words that were found.
const (
	wordsBefore = 60
	wordsAfter  = 160
)

// excerpt returns what stands around the words that were looked for, with them
// marked. The bridge finds more than what has the same letters here (ligatures, for
// one); such a hit is shown from its beginning.
func excerpt(content, q string) []part {
	text := strings.Join(strings.Fields(content), " ")
	start, end := foundAt(text, strings.Join(strings.Fields(q), " "))
	if end == 0 {
		return []part{{Text: firstCharacters(text, wordsBefore+wordsAfter)}}
	}
	before, found, after := text[:start], text[start:end], text[end:]
	if n := utf8.RuneCountInString(before); n > wordsBefore {
		before = "…" + string([]rune(before)[n-wordsBefore:])
	}
	return []part{{Text: before}, {Text: found, Found: true}, {Text: firstCharacters(after, wordsAfter)}}
}

// foundAt returns where words stand in a text, whatever their case. It takes time by
// the length of the two together, not by their product: others write the texts.
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

// folded returns a text in which all cases of a letter are one; as for the bridge, ß
// is ss.
func folded(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		b.WriteString(foldedRune(r))
	}
	return b.String()
}

// foldedRune returns the first of a letter's cases (Unicode, simple case folding).
func foldedRune(r rune) string {
	switch {
	case r == 'ß' || r == 'ẞ':
		return "SS"
	case r < utf8.RuneSelf:
		return asciiFolded[r : r+1]
	}
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return string(first)
}

// asciiFolded holds the characters up to 127, with capitals for small letters: they
// are the first of their cases.
var asciiFolded = func() string {
	var all [utf8.RuneSelf]byte
	for i := range all {
		all[i] = byte(unicode.ToUpper(rune(i)))
	}
	return string(all[:])
}()

// firstCharacters returns the beginning of a text.
func firstCharacters(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
