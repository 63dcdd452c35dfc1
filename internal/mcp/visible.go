package mcp

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text with invisible characters written as their numbers: control, formatting and
// bidirectional characters, variation selectors, tags and fillers. They could control a terminal,
// make words look like others, or hide words from a person that a model reads. Line breaks and tabs
// stay, and so do characters that shape an emoji or a word.
func visible(s string) string {
	shown, _ := visiblePrefix(s, len(s)*maxEscape)
	return shown
}

// capped returns the beginning of a text with invisible characters as numbers, in at most the given
// number of characters of its JSON, and says how many characters are left out.
func capped(s string, most int) string {
	shown, rest := visiblePrefix(s, most)
	if rest == "" {
		return shown
	}
	return shown + fmt.Sprintf(" [%d more characters]", utf8.RuneCountInString(rest))
}

// maxEscape is the length of the longest number, "[U+10FFFF]".
const maxEscape = 10

// visiblePrefix makes a text visible until its JSON has most characters, and returns the rest.
func visiblePrefix(s string, most int) (shown, rest string) {
	var b strings.Builder
	before, size := rune(0), 0
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+width:])
		text := string(r)
		if isInvisible(r) && !shapes(before, r, next) {
			text = fmt.Sprintf("[U+%04X]", r)
		}
		if size += jsonLength(text); size > most {
			return b.String(), s[i:]
		}
		b.WriteString(text)
		before, i = r, i+width
	}
	return b.String(), ""
}

// jsonLength returns the length of a text in a JSON string, in characters.
func jsonLength(s string) (n int) {
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

// fillers look like spaces, or like nothing, without being formatting characters.
var fillers = []*unicode.RangeTable{unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Zl, unicode.Zp}

// isInvisible reports whether a character cannot be seen, or changes how others look.
func isInvisible(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u2800', utf8.RuneError: // an empty Braille pattern; broken UTF-8
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cf, r) || unicode.In(r, fillers...)
}

// shapes reports whether a character only shapes its neighbours: a single joiner between two letters
// or emoji, or a single selector of an emoji's style. Several in a row could encode a text.
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
