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
	case isQuote(b.sender, b.said), once && (isUnlike || marked && !isUnsaved(rest)):
		r.doubt(b.line, "what stands before the colon is probably no sender: taken for a notice")
		return true
	case once && busy, isUnlike && !r.wrote[b.sender], marked && !r.prefixed && (once || !isUnsaved(rest)):
		r.doubt(b.line, "what stands before the colon may be no sender: taken for one")
		r.prefixed = r.prefixed || marked
	}
	return false
}

// isNameless reports whether the sender is invisible.
func isNameless(h head) bool { return strings.HasPrefix(plainName(h.rest), ":") }

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

// isWritten reports whether a text after a mark of the app is a person's: phones also mark texts in
// languages from right to left.
func (r *reader) isWritten(m *Message, raw string) bool {
	const asNotice = "the app has marked it as its own text: taken for a notice"
	rightToLeft := strings.HasPrefix(raw, "\u200f")
	says := !rightToLeft || len(r.f.writers) > 0 // the mark, if anybody writes without it
	writes := r.writes(m.Sender)
	first, _, several := strings.Cut(raw, "\n")
	l := line{number: m.Line, text: first}
	switch {
	case mentions(first, m.Sender): // as the app's notices about people do
	case m.Line == r.first.number && (says && !several || isEncrypted(first)):
		isNamed := r.f.chat != "" && r.f.senders[m.Sender] == 1 // by this line alone
		if isNamed || rightToLeft && writes && !isEncrypted(first) {
			r.doubt(l, asNotice)
		}
	case says && r.isChat(m.Sender) && (!rightToLeft || len(r.f.senders) > 2):
	case rightToLeft && !writes && len(r.f.natives) > 0 && r.f.senders[m.Sender] > fewLines: // the chat, too
		if !r.chats[m.Sender] && !several {
			r.doubt(l, "the app has marked all lines of this sender as its own text: taken for notices")
		}
		r.chats[m.Sender] = true
	case rightToLeft:
		if !r.wrote[m.Sender] || r.f.natives[m.Sender] || len(r.f.natives) > 0 && r.f.senders[m.Sender] <= fewLines {
			r.doubt(l, "the app has marked it as its own text, but may mark all: taken for a message")
		}
		return true
	case (writes || r.f.senders[m.Sender] <= fewLines) && (several || strings.ContainsAny(strings.TrimLeft(first, appMarks), appMarks)):
		r.doubt(l, "the app has marked it as its own text, but it may be something that a person did: taken for a message")
		return true
	case writes || r.f.senders[m.Sender] <= fewLines:
		r.doubt(l, asNotice)
	}
	if several {
		r.doubt(l, "the app has marked it as its own text, but it has several lines: taken for a notice")
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

// isRightToLeft reports whether a text is in a script that runs from right to left.
func isRightToLeft(s string) bool {
	i := strings.IndexFunc(s, unicode.IsLetter)
	if i < 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.In(first, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
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
