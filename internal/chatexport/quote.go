package chatexport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotation marks of all languages. Some languages open a quotation with a mark that closes it in others.
const (
	openingMarks = "“„«「『"
	closingMarks = "”»」』"
	quoteMarks   = `"` + openingMarks + closingMarks
)

// isOpenQuote reports whether the last quotation mark of a text opens a quotation.
func isOpenQuote(s string) bool {
	i := strings.LastIndexAny(s, quoteMarks)
	if i < 0 {
		return false
	}
	mark, size := utf8.DecodeRuneInString(s[i:])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	return isSpaceBefore(s, i) || strings.ContainsRune(openingMarks, mark) && !unicode.IsSpace(after) && s[i+size:] != ""
}

// isQuote reports whether a text opens a quotation that the following text closes.
func isQuote(s, following string) bool {
	if !isOpenQuote(s) {
		return false
	}
	i := strings.IndexAny(following, quoteMarks)
	if i < 0 {
		return false
	}
	mark, _ := utf8.DecodeRuneInString(following[i:])
	return !isSpaceBefore(following, i) || strings.ContainsRune(closingMarks, mark)
}

func isSpaceBefore(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	return i == 0 || unicode.IsSpace(before)
}
