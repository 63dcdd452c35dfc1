package api

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	keycap        = '\u20e3'
	joiner        = '\u200d'
	textStyle     = '\ufe0e'
	emojiStyle    = '\ufe0f'
	firstTag      = '\U000E0020'
	cancelTag     = '\U000E007F'
	firstRegional = '\U0001F1E6'
	lastRegional  = '\U0001F1FF'
	firstTone     = '\U0001F3FB' // of the skin
	lastTone      = '\U0001F3FF'
	maxEmoji      = 16 // runes of the longest sequences, with room
)

// isEmoji reports whether s is one emoji or empty. It follows the grammar of
// emoji sequences (Unicode Technical Standard 51) without the list of emoji,
// which grows every year: joined pictures are one, several are not.
func isEmoji(s string) bool {
	if s == "" {
		return true
	}
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxEmoji {
		return false
	}
	runes := []rune(s)
	if isFlag(runes) || isKeycap(runes) {
		return true
	}
	for {
		rest, ok := afterPicture(runes)
		switch {
		case !ok || len(rest) > 0 && rest[0] != joiner:
			return false
		case len(rest) == 0:
			return true
		}
		runes = rest[1:]
	}
}

// isFlag reports whether runes are a country in regional letters.
func isFlag(runes []rune) bool {
	return len(runes) == 2 && between(runes[0], firstRegional, lastRegional) && between(runes[1], firstRegional, lastRegional)
}

// isKeycap reports whether runes are a key of a telephone.
func isKeycap(runes []rune) bool {
	last := len(runes) - 1
	return (last == 1 || last == 2 && runes[1] == emojiStyle) && strings.ContainsRune("#*0123456789", runes[0]) && runes[last] == keycap
}

// afterPicture returns what follows the picture that runes begin with, and its
// style, skin tone and tags.
func afterPicture(runes []rune) (rest []rune, ok bool) {
	if len(runes) == 0 || !isPicture(runes[0]) {
		return nil, false
	}
	rest = runes[1:]
	skip := func(fits func(rune) bool) {
		if len(rest) > 0 && fits(rest[0]) {
			rest = rest[1:]
		}
	}
	isStyle := func(r rune) bool { return r == emojiStyle || r == textStyle }
	skip(isStyle)
	skip(func(r rune) bool { return between(r, firstTone, lastTone) })
	skip(isStyle)
	if len(rest) == 0 || !between(rest[0], firstTag, cancelTag) {
		return rest, true
	}
	for len(rest) > 0 && between(rest[0], firstTag, cancelTag-1) {
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0] != cancelTag {
		return nil, false
	}
	return rest[1:], true
}

// isPicture reports whether an emoji may begin with r: a symbol, one of the few
// emoji that are not, or what the blocks of emoji may hold one day. Regional
// letters mean something in pairs only.
func isPicture(r rune) bool {
	switch {
	case r < utf8.RuneSelf, between(r, firstRegional, lastRegional):
		return false
	case between(r, 0x1F000, 0x1FAFF):
		return !unicode.IsLetter(r)
	}
	return unicode.In(r, unicode.So, unicode.Sm) && r != utf8.RuneError || strings.ContainsRune("‼⁉ℹ〰〽", r)
}

func between(r, first, last rune) bool { return first <= r && r <= last }
