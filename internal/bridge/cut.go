package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut returns valid text of at most so many characters. It does not end within one sign
// (a letter with its accents, an emoji of several parts, a flag), unless that would
// leave nothing.
func cut(s string, most int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	end := byteOf(s, most)
	if end == len(s) {
		return s
	}
	const longest = 32 // signs that are longer are no signs
	for at, steps := end, 0; at > 0 && steps < longest; steps++ {
		if !joined(s[:at], s[at:]) {
			return s[:at]
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[:end]
}

// CutContent returns the text of a message as it is stored: at most [MaxContent] characters.
func CutContent(text string) string { return cut(text, MaxContent) }

// Beginning returns at most so many characters of a text, and "…" if there are more.
func Beginning(text string, most int) string {
	if end := byteOf(text, most); end < len(text) {
		return text[:end] + "…"
	}
	return text
}

// byteOf returns where the character with a number begins, or the end of s.
func byteOf(s string, character int) int {
	if len(s) <= character {
		return len(s)
	}
	for i := range s {
		if character == 0 {
			return i
		}
		character--
	}
	return len(s)
}

const zeroWidthJoiner = '\u200D'

// joined reports whether two parts of a text meet within one sign.
func joined(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case last == zeroWidthJoiner, next == zeroWidthJoiner, unicode.Is(unicode.M, next):
		return true
	case next >= 0x1F3FB && next <= 0x1F3FF, next >= 0xE0020 && next <= 0xE007F: // skin tones, and the letters in flags of regions
		return true
	case !isFlagLetter(next):
		return false
	}
	letters := 0
	for before != "" {
		r, size := utf8.DecodeLastRuneInString(before)
		if !isFlagLetter(r) {
			break
		}
		letters++
		before = before[:len(before)-size]
	}
	return letters%2 == 1
}

// isFlagLetter reports whether r is one of the two letters that make a flag.
func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// PlainFileName returns a name without characters that would hide its end or break a
// line of a header. A long name keeps its extension.
func PlainFileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if utf8.RuneCountInString(name) <= maxName {
		return name
	}
	extension := name[strings.LastIndexByte(name, '.')+1:]
	if length := utf8.RuneCountInString(extension); length > 0 && length <= longestExtension && len(extension) < len(name) {
		return cut(name[:len(name)-len(extension)-1], maxName-length-1) + "." + extension
	}
	return cut(name, maxName)
}

const longestExtension = 16

// Join puts texts of any type into one, with a separator between them.
func Join[T ~string](texts []T, separator string) string {
	plain := make([]string, len(texts))
	for i, text := range texts {
		plain[i] = string(text)
	}
	return strings.Join(plain, separator)
}

// CutBytes returns the first bytes of a text, at most so many, in whole characters.
func CutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:max(most, 0)]
}
