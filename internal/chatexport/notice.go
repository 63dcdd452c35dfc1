package chatexport

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isNotice reports whether the text before the first colon is the beginning of a notice, such as one
// about a group's new description, and not a sender.
func (r *reader) isNotice(b beginning) bool {
	rest := strings.TrimLeft(b.rest, " ")
	once, marked := r.f.senders[b.sender] == 1, b.form == brackets && startsWithMark(rest)
	busy, more := r.beginsSentence(b.sender)
	isUnlike := isOpenQuote(b.sender) || isLong(b.sender) || busy && !isName(more)
	switch {
	case isQuote(b.sender, b.content), once && (isUnlike || marked && !isUnsaved(rest)):
		r.warn(b.line, "the text before the colon is probably not a sender: treated as a notice of the app")
		return true
	case once && busy, (isUnlike || strings.Count(b.sender, `"`)%2 == 1) && !r.wrote[b.sender], marked && !r.prefixed && (once || !isUnsaved(rest)):
		r.warn(b.line, "the text before the colon may not be a sender: treated as one")
		r.prefixed = r.prefixed || marked
	}
	return false
}

// isNameless reports whether the sender is invisible.
func isNameless(h prefix) bool { return strings.HasPrefix(plainName(h.rest), ":") }

// isLong reports whether a text is longer than a name.
func isLong(s string) bool { return strings.Count(s, " ") >= 8 || utf8.RuneCountInString(s) > 60 }

// beginsSentence reports whether a text is a sender and at least three words. It returns the words.
func (r *reader) beginsSentence(s string) (busy bool, more string) {
	for i := range len(s) {
		if s[i] == ' ' && r.f.senders[s[:i]] > 1 && strings.Count(s[i:], " ") >= 3 {
			return true, s[i:]
		}
	}
	return false, ""
}

// isName reports whether words may end a name, also in scripts without capitals: sentences end
// in small letters before a colon.
func isName(s string) bool {
	words := strings.Fields(s)
	last := strings.TrimLeftFunc(words[len(words)-1], unicode.IsPunct)
	first, _ := utf8.DecodeRuneInString(last)
	return !unicode.IsLower(first)
}

// isUnsaved reports whether a text begins as the apps show people who are not in the address
// book: with a tilde or a number.
func isUnsaved(s string) bool {
	s = strings.TrimLeftFunc(s, isMark)
	return strings.HasPrefix(s, "~") || len(s) > 1 && s[0] == '+' && s[1] >= '0' && s[1] <= '9'
}

// isWritten reports whether a text after a mark of the app is a person's. Phones also mark people's texts in languages from
// right to left, so these are messages, with a warning for the first of each sender.
func (r *reader) isWritten(m *Message, raw string) bool {
	const asNotice = "the app marks it as its own text: treated as a notice of the app"
	rightToLeft := strings.HasPrefix(raw, "\u200f")
	isMeant := !rightToLeft || len(r.f.writers) > 0 // the mark means something if anyone writes without it
	writes := r.writes(m.Sender)
	first, _, several := strings.Cut(raw, "\n")
	l := line{number: m.Line, text: first}
	switch {
	case mentions(first, m.Sender): // as the app's notices about people do
	case m.Line == r.first.number && (isMeant && !several || isEncrypted(first)):
		isNamed := r.f.chat != "" && r.f.senders[m.Sender] == 1 // by this line alone
		if isNamed || rightToLeft && writes && !isEncrypted(first) {
			r.warn(l, asNotice)
		}
	case isMeant && r.isChat(m.Sender) && (!rightToLeft || len(r.f.senders) > 2):
	case rightToLeft:
		if !r.marks[m.Sender] {
			r.warn(l, "the app marks it as its own text, but may mark all texts of this sender: treated as a message, as are the later ones")
		}
		r.marks[m.Sender] = true
		return true
	case (writes || r.f.senders[m.Sender] <= fewLines) && (several || strings.ContainsAny(strings.TrimLeft(first, appMarks), appMarks)):
		r.warn(l, "the app marks it as its own text, but it may be a person's: treated as a message")
		return true
	case writes || r.f.senders[m.Sender] <= fewLines:
		r.warn(l, asNotice)
	}
	if several {
		r.warn(l, "the app marks it as its own text, but it has several lines: treated as a notice of the app")
	}
	return false
}

// writes reports whether a person has texts that the app has not marked, or that were read as messages.
func (r *reader) writes(sender string) bool { return r.f.writers[sender] || r.wrote[sender] }

// isChat reports whether a sender is the chat of the first line, which writes nothing.
func (r *reader) isChat(sender string) bool {
	return sender == r.first.sender && !r.writes(sender)
}

// isEncrypted reports whether a text has a word for encryption in languages from right to left, as
// the notice at the beginning of an export has.
func isEncrypted(s string) bool {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || isMark(r) {
			return -1
		}
		return r
	}, s)
	return slices.ContainsFunc([]string{"مشفر", "تشفير", "رمزگذاری", "מוצפנ", "הצפנה"}, func(word string) bool { return strings.Contains(s, word) })
}

// fewLines limits the lines of a person whose lines all begin with a mark of the app. With more lines
// it is the chat, or a person who only manages it.
const fewLines = 3

// mentions reports whether a text has a name in it, as words of their own.
func mentions(text, name string) bool {
	text = plainName(text)
	first, size := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	for from := 0; ; from += size {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[from+len(name):])
		if !(joins(before) && joins(first)) && !(joins(last) && joins(after)) {
			return true
		}
	}
}

// joins reports whether two characters belong to one word: some scripts do not separate words, or a
// name and its particles.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
