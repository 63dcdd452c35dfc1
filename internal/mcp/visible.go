package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text in which everything that cannot be seen is written as its number:
// control, formatting and bidirectional characters, variation selectors, tags and fillers.
// Nothing in it acts on a terminal, makes words look like others or hides words from a
// person that a model reads. Line breaks and tabs stay, and what shapes an emoji or a word.
func visible(s string) string {
	shown, _ := write(s, len(s)*maxEscape)
	return shown
}

// capped returns the beginning of a text, visible, in at most so many characters as JSON
// writes them, and how many characters are left out.
func capped(s string, most int) string {
	shown, rest := write(s, most)
	if rest == "" {
		return shown
	}
	return shown + fmt.Sprintf(" [%d more characters]", utf8.RuneCountInString(rest))
}

// maxEscape is the length of the longest number, "[U+10FFFF]".
const maxEscape = 10

// write makes a text visible until it has so many characters, and returns the rest.
func write(s string, most int) (shown, rest string) {
	var b strings.Builder
	before, size := rune(0), 0
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+width:])
		text := string(r)
		if acts(r) && !shapes(before, r, next) {
			text = fmt.Sprintf("[U+%04X]", r)
		}
		if size += written(text); size > most {
			return b.String(), s[i:]
		}
		b.WriteString(text)
		before, i = r, i+width
	}
	return b.String(), ""
}

// written returns the length of a text in a JSON string, in characters.
func written(s string) (n int) {
	for _, r := range s {
		switch r {
		case '"', '\\', '\n', '\t':
			n += 2
		case '<', '>', '&':
			n += len(`\u003c`)
		default:
			n++
		}
	}
	return n
}

// fillers look like spaces, or like nothing, and are no formatting characters.
var fillers = []*unicode.RangeTable{unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Zl, unicode.Zp}

func acts(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u2800', utf8.RuneError: // an empty Braille pattern; broken UTF-8
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cf, r) || unicode.In(r, fillers...)
}

// shapes reports whether a character only shapes its neighbours: one joiner between two
// letters or emoji, one selector that chooses how an emoji looks. Several in a row say
// something of their own.
func shapes(before, r, next rune) bool {
	switch r {
	case '\u200c', '\u200d':
		return isJoined(before) && isJoined(next)
	case '\ufe0e', '\ufe0f':
		return unicode.IsSymbol(before) || before == '\u203c' || before == '\u2049' || next == '\u20e3' // as in 1️⃣
	}
	return false
}

func isJoined(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsMark(r) && !unicode.In(r, fillers...) || unicode.IsSymbol(r) || r == '\ufe0f')
}
