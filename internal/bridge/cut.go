package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut returns valid text of at most most characters. It does not split a grapheme (a letter with
// its accents, an emoji of several parts, a flag), unless nothing would be left.
func cut(s string, most int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	end := byteOf(s, most)
	if end == len(s) {
		return s
	}
	const longest = 32 // longer sequences are not graphemes
	for at, steps := end, 0; at > 0 && steps < longest; steps++ {
		if !joined(s[:at], s[at:]) {
			return s[:at]
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[:end]
}

// CutContent returns the text of a message in its stored form: at most [MaxContent] characters.
func CutContent(text string) string { return cut(text, MaxContent) }

// Beginning returns at most most characters of a text, followed by "…" if there are more.
func Beginning(text string, most int) string {
	if end := byteOf(text, most); end < len(text) {
		return text[:end] + "…"
	}
	return text
}

// byteOf returns the byte offset of a character (counted from 0), or len(s).
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

// joined reports whether a grapheme spans the end of before and the start of after.
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

// isFlagLetter reports whether r is a letter of a flag. A flag has two.
func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// PlainFileName returns a name without characters that could disguise its end or break a header
// line. If a long name is cut, its extension stays.
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

// Join joins texts of any string type with a separator.
func Join[T ~string](texts []T, separator string) string {
	plain := make([]string, len(texts))
	for i, text := range texts {
		plain[i] = string(text)
	}
	return strings.Join(plain, separator)
}

// CutBytes returns the start of a text, at most most bytes, without splitting a character.
func CutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:max(most, 0)]
}
