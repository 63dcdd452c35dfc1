package api

import (
	"regexp"
	"unicode/utf8"
)

// maxEmoji bounds an emoji in runes: the longest sequences have 10.
const maxEmoji = 16

// emoji finds what is one emoji. It follows the grammar of emoji sequences (Unicode
// Technical Standard 51) without the list of emoji, which grows every year. A picture is
// a symbol, one of the few emoji that are none, or what the blocks of emoji may hold one
// day, with its style, skin tone and tags; pictures that are joined are one.
var emoji = func() *regexp.Regexp {
	const (
		regional = `[\x{1F1E6}-\x{1F1FF}]`
		symbol   = `[^\P{So}\x{1F1E6}-\x{1F1FF}\x{FFFD}]|[^\P{Sm}\x00-\x7F]|[‼⁉ℹ〰〽]|[\x{1F000}-\x{1F1E5}\x{1F200}-\x{1FAFF}]`
		style    = `[\x{FE0E}\x{FE0F}]?`
		tone     = `[\x{1F3FB}-\x{1F3FF}]?`
		tags     = `(?:[\x{E0020}-\x{E007E}]*\x{E007F})?`
		picture  = `(?:` + symbol + `)` + style + tone + style + tags
		joiner   = `\x{200D}`
		keycap   = `[#*0-9]\x{FE0F}?\x{20E3}`
	)
	return regexp.MustCompile(`^(?:` + regional + `{2}|` + keycap + `|` + picture + `(?:` + joiner + picture + `)*)$`)
}()

// isEmoji reports whether s is one emoji or empty.
func isEmoji(s string) bool {
	return s == "" || utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxEmoji && emoji.MatchString(s)
}
