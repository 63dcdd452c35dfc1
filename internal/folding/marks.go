package folding

import (
	"sort"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// Part is a piece of a text. It is Found where it is what was searched for.
type Part struct {
	Text  string
	Found bool
}

// Around returns the part of a text around words, on one line and with the words marked in
// every spelling that a fold makes one: so many characters before the first of them and
// after it, and as many from the beginning if they are not there. Left-out text is marked
// with "…".
func Around(content, words string, by bridge.Fold, before, after int) []Part {
	return around(content, words, before, after, By(by))
}

// Name returns a name, with words marked that [FoldBare] finds in it.
func Name(name, words string) []Part { return around(name, words, len(name), len(name), FoldBare) }

func around(content, words string, before, after int, fold func(string) string) []Part {
	plain := strings.Join(strings.Fields(strings.ToValidUTF8(content, "\uFFFD")), " ")
	wanted := fold(strings.Join(strings.Fields(words), " "))
	near, _ := newText(plain, 256, fold).find(wanted, 0)
	if near.end == 0 {
		return joined([]Part{{Text: bridge.Beginning(plain, before+after)}})
	}
	exact := newText(plain[near.start:near.end+offsetOf(plain[near.end:], after)], 1, fold)
	first, _ := exact.find(wanted, 0)
	lead := plain[:near.start+first.start]
	if n := utf8.RuneCountInString(lead); n > before {
		lead = "…" + lead[offsetOf(lead, n-before):]
	}
	end := first.end + offsetOf(exact.plain[first.end:], after)
	parts := append([]Part{{Text: lead}}, exact.marked(wanted, first.start, end)...)
	if near.start+end < len(plain) {
		parts = append(parts, Part{Text: "…"})
	}
	return joined(parts)
}

// Plain returns the text of parts without the marks.
func Plain(parts []Part) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Text)
	}
	return b.String()
}

// joined returns parts without empty ones, and neighbours of one kind as one.
func joined(parts []Part) (whole []Part) {
	for _, part := range parts {
		last := len(whole) - 1
		switch {
		case part.Text == "":
		case last >= 0 && whole[last].Found == part.Found:
			whole[last].Text += part.Text
		default:
			whole = append(whole, part)
		}
	}
	return whole
}

// offsetOf returns where the character with a number begins, or the end of s.
func offsetOf(s string, character int) int {
	for i := range s {
		if character == 0 {
			return i
		}
		character--
	}
	return len(s)
}

// text is a text beside its folded form. They are tied together at some of the signs: at
// few of a long text, at all where the exact place counts. Strangers write the texts.
type text struct {
	plain, folded string
	ties          []tie // the last one at the end
}

// tie is a place in both forms of a text.
type tie struct{ plain, folded int }

// span is a place in the plain form, from one tie to another.
type span struct{ start, end int }

// newText ties a text to its folded form at the signs that begin after so many bytes.
func newText(plain string, untied int, fold func(string) string) text {
	t := text{plain: plain, ties: []tie{{}}}
	var folded strings.Builder
	for start, end := 0, 0; start < len(plain); start = end {
		for end = min(start+untied, len(plain)); end < len(plain) && !beginsSign(plain[end:]); {
			end++
		}
		folded.WriteString(fold(plain[start:end]))
		t.ties = append(t.ties, tie{end, folded.Len()})
	}
	t.folded = folded.String()
	return t
}

// find returns between which ties folded words stand, from a place of the folded text on,
// and where they end there; an empty span for nowhere.
func (t text) find(wanted string, from int) (found span, end int) {
	at := strings.Index(t.folded[from:], wanted)
	if wanted == "" || at < 0 {
		return span{}, 0
	}
	end = from + at + len(wanted)
	behind := sort.Search(len(t.ties), func(i int) bool { return t.ties[i].folded > from+at })
	last := sort.Search(len(t.ties), func(i int) bool { return t.ties[i].folded >= end })
	return span{t.ties[behind-1].plain, t.ties[last].plain}, end
}

// marked returns the text from a place to another, with all that is found marked. A sign
// that two findings share is marked once.
func (t text) marked(wanted string, shown, most int) (parts []Part) {
	for found, at := t.find(wanted, 0); found.end != 0 && found.start < most; found, at = t.find(wanted, at) {
		start, end := max(found.start, shown), max(min(found.end, most), shown)
		parts = append(parts, Part{Text: t.plain[shown:start]}, Part{t.plain[start:end], true})
		shown = end
	}
	return append(parts, Part{Text: t.plain[shown:most]})
}
