// Package markup divides the text of a message into blocks and spans, with the formatting that
// WhatsApp's apps show: bold, italic, struck and code, lists, quotes, links and mentions.
package markup

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// firstRune returns the first character of a text and its length; a space for an empty text.
func firstRune(text string) (r rune, size int) {
	if text == "" {
		return ' ', 0
	}
	return utf8.DecodeRuneInString(text)
}

// Block is one or more lines of a text.
type Block struct {
	Kind  Kind
	Items []Item // other blocks than lists have one
}

// Kind is the kind of a block.
type Kind string

const (
	PlainLines   Kind = ""
	CodeBlock    Kind = "code"
	QuotedLines  Kind = "quote"
	BulletList   Kind = "bullets"
	NumberedList Kind = "numbers"
)

// Item is an entry of a list or the content of another block.
type Item struct {
	Number int // in a numbered list
	Spans  []Span
}

// Span is a part of a text with one style. Templates escape it.
type Span struct {
	Text   string
	Link   string // an address, http or https
	Person bridge.JID
	Bold   bool
	Italic bool
	Strike bool
	Code   bool
	Found  bool // whether it was searched for
}

// MaxSpans limits the entries of lists and the spans of a text: 65,536 asterisks are plain text.
const MaxSpans = 500

// Blocks divides a text as the apps do: into code between lines of ```, lists, quotes and plain
// lines. Spans are links, mentions and formatting.
func Blocks(text string, mentions map[string]bridge.Mention) (blocks []Block) {
	left := MaxSpans
	spans := func(text string) []Span { return spansOf(text, mentions, &left) }
	for text != "" {
		before, code, after := cutCode(text)
		blocks = append(blocks, linesOf(before, &left, spans)...)
		if code != "" {
			blocks = append(blocks, Block{CodeBlock, []Item{{Spans: []Span{{Text: code, Code: true}}}}})
		}
		text = after
	}
	return blocks
}

const fence = "```"

// cutCode returns the first code block of a text and the text around it. Code within a line is a
// span.
func cutCode(text string) (before, code, after string) {
	for at := 0; ; {
		start := strings.Index(text[at:], fence)
		if start < 0 {
			return text, "", ""
		}
		start += at
		inner, rest, found := strings.Cut(text[start+len(fence):], fence)
		if !found {
			return text, "", ""
		}
		at = start + len(fence)
		if strings.TrimSpace(inner) == "" {
			continue
		}
		isAlone := (start == 0 || text[start-1] == '\n') && (rest == "" || rest[0] == '\n')
		if isAlone || strings.Contains(inner, "\n") {
			return strings.TrimSuffix(text[:start], "\n"), strings.Trim(inner, "\n"), strings.TrimPrefix(rest, "\n")
		}
		at += len(inner) + len(fence)
	}
}

// Plain returns a text without the marks of its formatting.
func Plain(text string) string {
	if !strings.ContainsAny(text, "*_~`>-") {
		return text
	}
	var b strings.Builder
	for _, block := range Blocks(text, nil) {
		for _, item := range block.Items {
			if block.Kind == NumberedList {
				fmt.Fprintf(&b, "%d. ", item.Number)
			}
			for _, span := range item.Spans {
				b.WriteString(span.Text)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// linePattern finds the beginnings of lines in quotes and lists.
var linePattern = regexp.MustCompile(`^(?:(> )|([*-] )|([0-9]{1,3})\. )\S`)

// linesOf divides lines without code into plain ones, quotes and lists.
func linesOf(text string, left *int, spans func(string) []Span) (blocks []Block) {
	if text == "" {
		return nil
	}
	var plain []string
	flush := func() {
		if len(plain) > 0 {
			blocks, plain = append(blocks, Block{PlainLines, []Item{{Spans: spans(strings.Join(plain, "\n"))}}}), nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		kind, number, content := lineOf(line)
		if kind == PlainLines || *left <= 0 {
			plain = append(plain, line)
			continue
		}
		flush()
		entry := Item{number, spans(content)}
		if last := len(blocks) - 1; last >= 0 && blocks[last].Kind == kind {
			blocks[last].Items = append(blocks[last].Items, entry)
			continue
		}
		blocks = append(blocks, Block{kind, []Item{entry}})
	}
	flush()
	return blocks
}

// lineOf returns the kind of a line and its content without the mark.
func lineOf(line string) (kind Kind, number int, content string) {
	found := linePattern.FindStringSubmatch(line)
	switch {
	case found == nil:
		return PlainLines, 0, line
	case found[1] != "":
		return QuotedLines, 0, line[len(found[1]):]
	case found[2] != "":
		return BulletList, 0, line[len(found[2]):]
	}
	number, err := strconv.Atoi(found[3])
	if err != nil { // never: these are digits
		return PlainLines, 0, line
	}
	return NumberedList, number, line[len(found[3])+len(". "):]
}

// styler divides a text without blocks into spans.
type styler struct {
	text     string
	links    [][]int // bounds of the links; marks in them are text
	mentions map[string]bridge.Mention
	left     *int // spans that may still be made
	spans    []Span
}

// spansOf divides a text by its addresses, mentions and marks.
func spansOf(text string, mentions map[string]bridge.Mention, left *int) []Span {
	s := styler{text: text, links: bridge.Links(text, MaxSpans), mentions: mentions, left: left}
	s.style(0, len(text), Span{})
	return s.spans
}

// style divides a part of the text by the apps' marks: *bold*, _italic_, ~struck~ and `code`. Marks
// other than code may be nested.
func (s *styler) style(from, to int, look Span) {
	for from < to && *s.left > 0 {
		start, end, mark := s.nextMark(from, to, look)
		if mark == "" {
			break
		}
		s.plain(from, start, look)
		inner := look
		switch mark {
		case "*":
			inner.Bold = true
		case "_":
			inner.Italic = true
		case "~":
			inner.Strike = true
		default:
			inner.Code = true
			s.add(s.text[start+len(mark):end-len(mark)], inner)
		}
		if !inner.Code {
			s.style(start+len(mark), end-len(mark), inner)
		}
		from = end
	}
	s.plain(from, to, look)
}

// add adds a span, unless it is empty.
func (s *styler) add(text string, look Span) {
	if look.Text = text; text != "" {
		s.spans = append(s.spans, look)
		*s.left--
	}
}

// plain adds a part of the text without marks.
func (s *styler) plain(from, to int, look Span) {
	for from < to && *s.left > 0 && len(s.links) > 0 && s.links[0][0] < to {
		link := s.links[0]
		s.links = s.links[1:]
		if link[0] < from {
			continue // in code
		}
		s.mentioned(s.text[from:link[0]], look)
		address := look
		address.Link = s.text[link[0]:link[1]]
		s.add(address.Link, address)
		from = link[1]
	}
	if from < to {
		s.mentioned(s.text[from:to], look)
	}
}

// mentionPattern finds possible mentions.
var mentionPattern = regexp.MustCompile(`@[0-9]{5,20}`)

func (s *styler) mentioned(text string, look Span) {
	at := 0
	for _, found := range mentionPattern.FindAllStringIndex(text, max(0, *s.left)) {
		mention, known := s.mentions[text[found[0]:found[1]]]
		if !known {
			continue
		}
		s.add(text[at:found[0]], look)
		person := look
		person.Person = mention.JID
		s.add("@"+mention.Name, person)
		at = found[1]
	}
	s.add(text[at:], look)
}

// marks lists the apps' marks. The longest comes first.
var marks = []string{fence, "`", "*", "_", "~"}

// nextMark returns the bounds of the first marked part, with its marks. A mark within its own
// formatting is text.
func (s *styler) nextMark(from, to int, look Span) (start, end int, mark string) {
	before, links := ' ', s.links
	for i := from; i < to; {
		for len(links) > 0 && links[0][0] < i {
			links = links[1:]
		}
		if len(links) > 0 && links[0][0] == i {
			i, before = links[0][1], 'a'
			continue
		}
		r, size := firstRune(s.text[i:to])
		if strings.ContainsRune("`*_~", r) && !isWord(before) && !has(look, r) {
			for _, mark := range marks {
				if end := s.endOf(i, to, mark); end > 0 {
					return i, end, mark
				}
			}
		}
		before = r
		i += size
	}
	return 0, 0, ""
}

func has(look Span, mark rune) bool {
	return mark == '*' && look.Bold || mark == '_' && look.Italic || mark == '~' && look.Strike
}

// maxMarked bounds the search for the end of a mark, in bytes.
const maxMarked = 2000

// endOf returns the end of a marked part that begins at start, or 0.
func (s *styler) endOf(start, to int, mark string) int {
	if !strings.HasPrefix(s.text[start:to], mark) {
		return 0
	}
	inner := start + len(mark)
	links := s.links
	for at, limit := inner, min(to, start+maxMarked); at < limit; {
		found := strings.Index(s.text[at:limit], mark)
		if found < 0 {
			return 0
		}
		found += at
		for len(links) > 0 && links[0][1] <= found {
			links = links[1:]
		}
		if len(links) > 0 && links[0][0] <= found && mark[0] != '`' {
			at = links[0][1]
			continue
		}
		if !isMarked(s.text[inner:found], s.text[found+len(mark):to]) {
			return 0
		}
		return found + len(mark)
	}
	return 0
}

// isMarked reports whether the characters around a part of a line are marks, given the text after
// them.
func isMarked(inner, after string) bool {
	next, _ := firstRune(after)
	return inner != "" && strings.TrimSpace(inner) == inner && !strings.Contains(inner, "\n") && !isWord(next)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

const emoji = `[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}]`

// jumboPattern matches up to three emoji, with variants, skin tones and joined others.
var jumboPattern = regexp.MustCompile(`^(?:` + emoji + `(?:[\x{FE0F}\x{1F3FB}-\x{1F3FF}]|\x{200D}` + emoji + `)*){1,3}$`)

// IsJumbo reports whether a text is shown large.
func IsJumbo(text string) bool { return jumboPattern.MatchString(text) }
