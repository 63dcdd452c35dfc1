package console

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// span is a part of a text with one style. Templates escape it.
type span struct {
	Text   string
	Link   string // an address, http or https
	Person bridge.JID
	Bold   bool
	Italic bool
	Strike bool
	Code   bool
}

// linkPattern finds addresses, without the marks that end a sentence.
var linkPattern = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"]+[^\s<>".,;:!?'»”)\]}]`)

// maxSpans bounds the spans of a text: one of 65,536 asterisks is shown as it is.
const maxSpans = 500

// mentionsOf returns the people whom a message mentions, by the words in its text.
func mentionsOf(m bridge.Message, n names) map[string]bridge.Mention {
	if m.ContextInfo == nil {
		return nil
	}
	found := make(map[string]bridge.Mention)
	for _, mention := range m.ContextInfo.Mentions {
		if mention.Token != nil {
			mention.Name = n.of(mention.JID)
			found[*mention.Token] = mention
		}
	}
	return found
}

// spansOf divides a text by its addresses, mentions and marks.
func spansOf(text string, mentions map[string]bridge.Mention) (spans []span) {
	at := 0
	for _, found := range linkPattern.FindAllStringIndex(text, maxSpans) {
		spans = append(spans, marked(text[at:found[0]], mentions)...)
		address := span{Text: text[found[0]:found[1]]}
		if parsed, err := url.Parse(address.Text); err == nil && parsed.Host != "" && parsed.User == nil {
			address.Link = address.Text
		}
		spans, at = append(spans, address), found[1]
	}
	return append(spans, marked(text[at:], mentions)...)
}

// marked divides a text without addresses.
func marked(text string, mentions map[string]bridge.Mention) (spans []span) {
	for _, s := range markup(text) {
		spans = append(spans, mentioned(s, mentions)...)
	}
	return spans
}

// mentionPattern finds the words that may stand for people.
var mentionPattern = regexp.MustCompile(`@[0-9]{5,20}`)

func mentioned(s span, mentions map[string]bridge.Mention) (spans []span) {
	at := 0
	for _, found := range mentionPattern.FindAllStringIndex(s.Text, maxSpans) {
		mention, known := mentions[s.Text[found[0]:found[1]]]
		if !known {
			continue
		}
		before, person := s, s
		before.Text, person.Text, person.Person = s.Text[at:found[0]], "@"+mention.Name, mention.JID
		if before.Text != "" {
			spans = append(spans, before)
		}
		spans = append(spans, person)
		at = found[1]
	}
	if s.Text = s.Text[at:]; s.Text != "" {
		spans = append(spans, s)
	}
	return spans
}

// markup divides a text by the apps' marks: *bold*, _italic_, ~struck~ and
// ```code```. They do not stand within one another here.
func markup(text string) (spans []span) {
	rest := text
	for rest != "" && len(spans) < maxSpans {
		start, inner, end, mark := nextMark(rest)
		if mark == "" {
			break
		}
		if start > 0 {
			spans = append(spans, span{Text: rest[:start]})
		}
		spans = append(spans, span{Text: inner, Bold: mark == "*", Italic: mark == "_", Strike: mark == "~", Code: strings.HasPrefix(mark, "`")})
		rest = rest[end:]
	}
	if rest != "" {
		spans = append(spans, span{Text: rest})
	}
	return spans
}

// marks lists the apps' marks. The longest comes first.
var marks = []string{"```", "`", "*", "_", "~"}

// nextMark returns the first part of a text between marks, and its bounds with them.
func nextMark(text string) (start int, inner string, end int, mark string) {
	before := ' '
	for i, r := range text {
		if strings.ContainsRune("`*_~", r) && !isWord(before) {
			for _, mark := range marks {
				if inner, found := between(text[i:], mark); found {
					return i, inner, i + len(inner) + 2*len(mark), mark
				}
			}
		}
		before = r
	}
	return 0, "", 0, ""
}

// maxMarked bounds the search for the end of a mark, in bytes.
const maxMarked = 2000

// between returns the text up to the next mark, on one line unless it is code.
func between(text, mark string) (inner string, found bool) {
	rest, begins := strings.CutPrefix(text[:min(len(text), maxMarked)], mark)
	if !begins {
		return "", false
	}
	inner, after, found := strings.Cut(rest, mark)
	isBlock := mark == "```"
	switch {
	case !found || strings.TrimSpace(inner) == "":
		return "", false
	case !isBlock && (strings.Contains(inner, "\n") || strings.TrimSpace(inner) != inner):
		return "", false
	case !isBlock && after != "" && isWord([]rune(after[:min(len(after), 4)])[0]):
		return "", false
	}
	return inner, true
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

const emoji = `[\x{1F000}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}]`

// jumboPattern matches up to three emoji, with variants, skin tones and joined others.
var jumboPattern = regexp.MustCompile(`^(?:` + emoji + `(?:[\x{FE0F}\x{1F3FB}-\x{1F3FF}]|\x{200D}` + emoji + `)*){1,3}$`)

// isJumbo reports whether a text is shown large.
func isJumbo(text string) bool { return jumboPattern.MatchString(text) }
