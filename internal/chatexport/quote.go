package chatexport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closings has the closing quotation marks for each opening one, in any language.
var closings = map[rune]string{
	'"': `"`, '“': `”`, '”': `”`, '„': `“”"`, '«': `»`, '»': `«»`, '「': `」`, '『': `』`,
}

// quotes are the quotations that are open somewhere in a text, by the marks that end them.
type quotes []string

// isOpenQuote reports whether a text ends within quotation marks.
func isOpenQuote(s string) bool {
	var q quotes
	q.follow(s)
	return len(q) > 0
}

// isQuote reports whether a text ends inside a quotation that the following text closes.
func isQuote(s, behind string) bool {
	var q quotes
	q.follow(s)
	return len(q) > 0 && q.follow(behind)
}

// follow reads a text, and reports whether nothing is open any more somewhere in it.
func (q *quotes) follow(s string) (closed bool) {
	for i, mark := range s {
		ends, begins := closings[mark]
		last := len(*q) - 1
		before, after := s[:i], s[i+utf8.RuneLen(mark):]
		switch {
		case last >= 0 && strings.ContainsRune((*q)[last], mark) && !isAbbreviation(before, after):
			*q = (*q)[:last]
			closed = closed || last == 0
		case begins && (strings.ContainsRune("“„«「『", mark) || canBegin(before, after)):
			*q = append(*q, ends)
		}
	}
	return closed
}

// isAbbreviation reports whether a mark between two texts makes an abbreviation of them, as in
// Hebrew.
func isAbbreviation(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.Is(unicode.Hebrew, last) && unicode.Is(unicode.Hebrew, first) && !isPrefixed(before, after)
}

// canBegin reports whether a quotation may begin between two texts. Its mark can also end a quotation,
// mean inches or belong to an abbreviation.
func canBegin(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	if after == "" || unicode.IsSpace(first) || unicode.IsDigit(last) {
		return false
	}
	return !joins(last) || !joins(first) || isPrefixed(before, after)
}

// isPrefixed reports whether the one letter before a mark is a word such as "from" and "to", as
// Hebrew and Arabic write them in one with what follows.
func isPrefixed(before, after string) bool {
	letter, size := utf8.DecodeLastRuneInString(before)
	other, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	first, size := utf8.DecodeRuneInString(after)
	second, _ := utf8.DecodeRuneInString(after[size:])
	isPrefix := strings.ContainsRune("בהוכלמש", letter) || unicode.Is(unicode.Arabic, letter)
	return isPrefix && !joins(other) && unicode.IsLetter(first) && unicode.IsLetter(second)
}
