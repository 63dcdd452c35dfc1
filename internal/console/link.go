package console

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// linkPattern finds where addresses begin, and all that could be theirs.
var linkPattern = regexp.MustCompile("(?i)\\bhttps?://[^\\s<>\"`]+")

// linksIn returns the bounds of the addresses in a text.
func linksIn(text string) (links [][]int) {
	for _, found := range linkPattern.FindAllStringIndex(text, maxSpans) {
		address := text[found[0]:found[1]]
		found[1] = found[0] + linkLength(address)
		parsed, err := url.Parse(text[found[0]:found[1]])
		if err == nil && parsed.Host != "" && parsed.User == nil {
			links = append(links, found)
		}
	}
	return links
}

// brackets has the opening bracket of each closing one.
var brackets = map[rune]rune{
	')': '(', ']': '[', '}': '{', '」': '「', '』': '『', '】': '【', '）': '（', '》': '《', '〉': '〈', '〕': '〔', '］': '［', '｝': '｛', '”': '“', '’': '‘', '»': '«',
}

// linkLength returns the length of an address, of which a sentence may hold the rest: it
// ends before the punctuation of CJK and before brackets that it did not open, and not
// with a mark that ends a sentence.
func linkLength(address string) int {
	open := make(map[rune]int)
	end := len(address)
	for i, r := range address {
		if strings.ContainsRune("、。，！？；：", r) {
			end = i
			break
		}
		if opening, closes := brackets[r]; closes {
			if open[opening]--; open[opening] < 0 {
				end = i
				break
			}
			continue
		}
		open[r]++
	}
	return len(strings.TrimRight(address[:end], ".,;:!?'…*_~"))
}

// firstRune returns the first character of a text, and its length; a space of none.
func firstRune(text string) (r rune, size int) {
	if text == "" {
		return ' ', 0
	}
	return utf8.DecodeRuneInString(text)
}
