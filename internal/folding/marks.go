package folding

import (
	"sort"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// Part is a piece of a text. Found marks a match of the search.
type Part struct {
	Text  string
	Found bool
}

// Around returns the part of a text around the first match of words, on one line and with all
// matches in it marked. It has up to before characters in front of the first match and after
// characters after its end. If there is no match, it returns the first before+after
// characters. "…" marks omitted text.
func Around(content, words string, by bridge.Fold, before, after int) []Part {
	return around(content, words, before, after, By(by))
}

// Name returns a name with the matches of words marked. It compares with [FoldStripped].
func Name(name, words string) []Part { return around(name, words, len(name), len(name), FoldStripped) }

// Marked returns a whole text with all matches of words marked. Its white space stays.
func Marked(content, words string, by bridge.Fold) []Part {
	fold := By(by)
	wanted := fold(strings.Join(strings.Fields(words), " "))
	if wanted == "" || !strings.Contains(fold(content), wanted) {
		return joined([]Part{{Text: content}})
	}
	whole := newText(content, 1, fold)
	return joined(whole.marked(wanted, 0, len(whole.plain)))
}

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

// joined drops empty parts and joins neighbours of the same kind.
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

// offsetOf returns the byte offset of the n-th character (character, counted from 0), or len(s)
// if s is shorter.
func offsetOf(s string, character int) int {
	for i := range s {
		if character == 0 {
			return i
		}
		character--
	}
	return len(s)
}

// text is a text with its folded form. Anchors map offsets of one form to the other: few in a
// long text, and one at every boundary if exact offsets are needed. The text is untrusted input.
type text struct {
	plain, folded string
	anchors       []anchor // the last one is the end of the text
}

// anchor is an offset in both forms of a text.
type anchor struct{ plain, folded int }

// span is a range of the plain form, from one anchor to another.
type span struct{ start, end int }

// newText folds a text and anchors the two forms at the first boundary after every step bytes.
func newText(plain string, step int, fold func(string) string) text {
	t := text{plain: plain, anchors: []anchor{{}}}
	var folded strings.Builder
	for start, end := 0, 0; start < len(plain); start = end {
		for end = min(start+step, len(plain)); end < len(plain) && !isBoundary(plain[end:]); {
			end++
		}
		folded.WriteString(fold(plain[start:end]))
		t.anchors = append(t.anchors, anchor{end, folded.Len()})
	}
	t.folded = folded.String()
	return t
}

// find returns the smallest span between anchors that contains the first match of wanted at or
// after an offset of the folded text, and the end of the match there. The span is empty if there
// is no match.
func (t text) find(wanted string, from int) (found span, end int) {
	at := strings.Index(t.folded[from:], wanted)
	if wanted == "" || at < 0 {
		return span{}, 0
	}
	end = from + at + len(wanted)
	behind := sort.Search(len(t.anchors), func(i int) bool { return t.anchors[i].folded > from+at })
	last := sort.Search(len(t.anchors), func(i int) bool { return t.anchors[i].folded >= end })
	return span{t.anchors[behind-1].plain, t.anchors[last].plain}, end
}

// marked returns the text from one offset to another with all matches marked. Overlapping spans
// are marked once.
func (t text) marked(wanted string, shown, most int) (parts []Part) {
	for found, at := t.find(wanted, 0); found.end != 0 && found.start < most; found, at = t.find(wanted, at) {
		start, end := max(found.start, shown), max(min(found.end, most), shown)
		parts = append(parts, Part{Text: t.plain[shown:start]}, Part{t.plain[start:end], true})
		shown = end
	}
	return append(parts, Part{Text: t.plain[shown:most]})
}
