package bridge

import (
	"net/url"
	"regexp"
	"strings"
)

// linkPattern matches the start of a URL and everything that may belong to it.
var linkPattern = regexp.MustCompile("(?i)\\bhttps?://[^\\s<>\"`]+")

// Links returns the byte ranges of at most most URLs in a text. Each has a scheme and a host.
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

// brackets maps each closing bracket to its opening bracket.
var brackets = map[rune]rune{
	')': '(', ']': '[', '}': '{', '」': '「', '』': '『', '】': '【', '）': '（', '》': '《', '〉': '〈', '〕': '〔', '］': '［', '｝': '｛', '”': '“', '’': '‘', '»': '«',
}

// linkLength returns the length of a URL at the start of a text. The URL ends before CJK
// punctuation and before brackets that it did not open, and not with a punctuation mark that ends
// a sentence.
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
