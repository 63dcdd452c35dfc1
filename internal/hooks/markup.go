package hooks

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// show returns a value as it is printed: what came from outside marks nothing
// up. Only the template's own words do, and what it calls raw.
func (r *run) show(value any) (string, error) {
	text, err := r.text(value)
	if _, isRaw := value.(raw); isRaw || err != nil {
		return text, err
	}
	return plain(text), nil
}

// raw lets a value mark up.
func (r *run) raw(value any) (raw, error) {
	text, err := r.text(value)
	return raw(text), err
}

// address finds addresses in a text.
var address = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"]+`)

// plain returns a text whose characters mark nothing up in the apps. There is no
// escape for them: within addresses they are percent-encoded, which means the
// same, and elsewhere characters that look alike stand in their place.
func plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !strings.ContainsAny(text, "*_~`") {
		return visible(text)
	}
	var out strings.Builder
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		out.WriteString(alike(text[at:found[0]]))
		out.WriteString(encoded(text[found[0]:found[1]]))
		at = found[1]
	}
	out.WriteString(alike(text[at:]))
	return visible(out.String())
}

var (
	lookAlikes = map[rune]string{'*': "∗", '_': "ˍ", '~': "∼", '`': "ˋ"}
	codes      = map[rune]string{'*': "%2A", '_': "%5F", '~': "%7E", '`': "%60"}
)

// alike replaces marks in words.
func alike(text string) string { return replaceMarks(text, lookAlikes) }

// encoded replaces marks in an address.
func encoded(text string) string { return replaceMarks(text, codes) }

// replaceMarks replaces the marks of a text. An underscore within a word is none,
// and names of things are full of them.
func replaceMarks(text string, by map[rune]string) string {
	var out strings.Builder
	before := ' '
	for i, char := range text {
		after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(char):])
		replacement, isMark := by[char]
		if isMark && !(char == '_' && isWord(before) && isWord(after)) {
			out.WriteString(replacement)
		} else {
			out.WriteRune(char)
		}
		before = char
	}
	return out.String()
}

func isWord(char rune) bool { return unicode.IsLetter(char) || unicode.IsDigit(char) }

// visible returns a text without characters that act instead of showing:
// control characters, and those that turn the direction of what follows.
func visible(text string) string {
	return strings.Map(func(char rune) rune {
		switch {
		case char == '\n' || char == '\t':
			return char
		case unicode.IsControl(char), 0x202A <= char && char <= 0x202E, 0x2066 <= char && char <= 0x2069:
			return -1
		}
		return char
	}, text)
}
