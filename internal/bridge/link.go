package bridge

import (
	"net/url"
	"regexp"
	"strings"
)

// linkPattern finds where addresses begin, and all that could be theirs.
var linkPattern = regexp.MustCompile("(?i)\\bhttps?://[^\\s<>\"`]+")

// Links returns the bounds of at most so many addresses in a text, each with a scheme and a host.
func Links(text string, most int) (links [][]int) {
	for _, found := range linkPattern.FindAllStringIndex(text, most) {
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
