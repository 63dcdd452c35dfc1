package chatexport

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	// maxText bounds a message while it is read, in bytes: the longest text that is stored, with a
	// prefix, and with the app's words about a file.
	maxText     = bridge.MaxContent*utf8.UTFMax + 8<<10
	maxWarnings = 200
	maxQuote    = 120 // characters of a line in a warning
)

// Notes has the remarks about an export, in addition to its messages.
type Notes struct {
	System   int       // notices of the app
	Warnings []Warning // at most 200
}

// reader reads the messages of a text.
type reader struct {
	f     format
	has   func(name string) bool // whether the archive has a file
	notes *Notes

	last     Message // the message that is being read
	begin    string  // its first line
	word     string  // an unknown word next to its time
	raw      strings.Builder
	isOpen   bool
	notice   bool            // it is a notice of the app
	isLost   bool            // it is a notice, and a warning names the lines after it
	isCut    bool            // its text is cut off
	marked   bool            // the app has marked its line
	wrote    map[string]bool // who has sent messages
	marks    map[string]bool // senders with texts that the app has marked
	prefixed bool            // a warning about a mark before a sender exists
	lastDay  int64

	first  firstLine
	held   *line // a line after the message that looks like a notice; see hold
	blanks int   // empty lines after it
}

// firstLine is the first line of an export: the notice about encryption. Its sender is the chat.
type firstLine struct {
	number int
	sender string
}

// messages reads the messages of a text. It adds warnings about other lines to the notes.
func (f format) messages(text io.Reader, has func(string) bool, notes *Notes) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		r := &reader{f: f, has: has, notes: notes, wrote: make(map[string]bool), marks: make(map[string]bool)}
		defer func() { // warnings about held lines are late
			slices.SortStableFunc(notes.Warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
		}()
		for l, err := range lines(text) {
			if err != nil {
				yield(Message{}, err)
				return
			}
			if l.broken {
				r.warn(l, "it is not valid UTF-8: the invalid characters were replaced")
			}
			b, begins := r.begins(l)
			if !begins {
				r.addLine(l)
				continue
			}
			if r.hold(b) {
				continue
			}
			if m, ok := r.close(); ok && !yield(m, nil) {
				return
			}
			r.open(b)
		}
		if m, ok := r.close(); ok {
			yield(m, nil)
		}
	}
}

// beginning is the first line of a message or a notice.
type beginning struct {
	line
	prefix
	at        time.Time
	sender    string
	content   string // after the sender
	hasSender bool
}

// begins reads a line, and reports whether a message begins with it.
func (r *reader) begins(l line) (b beginning, begins bool) {
	b.line = l
	if b.prefix, begins = prefixOf(l.text); !begins {
		return b, false
	}
	if b.shape != r.f.shape {
		r.warn(l, "it looks like a new message, but in another format than the others: added to the message above it")
		return b, false
	}
	if b.at, begins = r.f.time(b.prefix); !begins {
		r.warn(l, "its date does not exist in the order "+string(r.f.order)+": added to the message above it")
		return b, false
	}
	b.sender, b.content, b.hasSender = r.f.senderOf(b.prefix)
	return b, true
}

// open begins a message.
func (r *reader) open(b beginning) {
	r.isOpen, r.isLost, r.isCut, r.marked = true, false, false, b.app
	r.last, r.begin, r.word = Message{Line: b.number, At: b.at}, b.text, b.word
	r.raw.Reset()
	if r.first.number == 0 {
		r.first = firstLine{b.number, b.sender}
	}
	r.notice = !b.hasSender || r.isNotice(b)
	if !b.hasSender && isNameless(b.prefix) {
		r.warn(b.line, "its sender has no name: not imported")
	}
	r.last.Sender = b.sender
	r.add(b.content, b.line)
	day := b.at.Unix() / (24 * 60 * 60)
	switch {
	case isFuture(b.at, r.f.now):
		r.warnMessage(b.line, "its date is in the future")
		return
	case b.at.Year() < firstYear:
		r.warnMessage(b.line, "its date is before the first release of the app")
		return
	case r.lastDay > day+backwards:
		r.warnMessage(b.line, "it is more than a month older than the message above it")
	}
	r.lastDay = day
}

// backwards is the number of days that a message may be older than the one above it. Phones sort messages by arrival.
const backwards = 31

// hold holds back a line after a message that looks like a notice, and reports whether it does. If other lines follow, the
// line is a part of the message, in which a person has pasted it.
func (r *reader) hold(b beginning) bool {
	if b.hasSender || isNameless(b.prefix) || !r.isOpen || r.notice || r.held != nil || isOpenQuote(b.rest) {
		return false
	}
	r.held, r.blanks = &b.line, 0
	return true
}

// addLine adds a line without a prefix to the message that is being read.
func (r *reader) addLine(l line) {
	isBlank := strings.TrimFunc(l.text, func(c rune) bool { return isMark(c) || c == ' ' }) == ""
	switch {
	case r.held != nil && isBlank:
		r.blanks++
		return
	case r.held != nil:
		r.warn(*r.held, "it looks like a notice of the app, but more lines follow: added to the message above it")
		r.add("\n"+r.held.text+strings.Repeat("\n", min(r.blanks, maxText)), *r.held)
		r.held = nil
	case !r.isOpen && !isBlank:
		r.warn(l, "it does not belong to a message: not imported")
	case r.notice && !isBlank && !r.isLost:
		r.isLost = true
		r.warn(l, "it follows a notice of the app: not imported, nor are the lines up to the next message")
	}
	if r.isOpen && !r.notice {
		r.add("\n"+unescapedLine(l.text), l)
	}
}

func (r *reader) add(text string, l line) {
	room := max(0, maxText-r.raw.Len())
	r.isCut = r.isCut || l.cut || len(text) > room
	r.raw.WriteString(bridge.CutBytes(text, room))
}

// close ends the message that is being read, and reports whether it is one.
func (r *reader) close() (Message, bool) {
	if !r.isOpen {
		return Message{}, false
	}
	m := r.last
	r.isOpen = false
	if r.held != nil {
		r.held = nil
		r.notes.System++
	}
	if !r.notice && r.body(&m, strings.TrimRight(r.raw.String(), "\n")) {
		r.wrote[m.Sender] = true
		whole := len(m.Text)
		m.Text = bridge.CutContent(m.Text)
		if r.isCut || len(m.Text) < whole {
			r.warn(line{number: m.Line, text: r.raw.String()}, fmt.Sprintf("it has more than %d characters: the rest is cut off", bridge.MaxContent))
		}
		r.warnWord(m.Line)
		m.detach(r.raw.Len())
		return m, true
	}
	r.notes.System++
	return Message{}, false
}

// detach copies the texts of a message, so that it does not retain the text of size from that it was cut out of.
func (m *Message) detach(from int) {
	for _, s := range []*string{&m.Text, &m.File, &m.Name} {
		*s = detached(*s, from)
	}
}

// warnMessage adds a warning about the first line of a message; notices need none.
func (r *reader) warnMessage(l line, why string) {
	if !r.notice {
		r.warn(l, why)
	}
}

func (r *reader) warn(l line, why string) {
	if len(r.notes.Warnings) == maxWarnings {
		return
	}
	text := detached(plainText(l.text), len(l.text))
	for i := range text {
		if utf8.RuneCountInString(text[:i]) == maxQuote {
			text = text[:i] + "…"
			break
		}
	}
	r.notes.Warnings = append(r.notes.Warnings, Warning{Line: cmp.Or(l.number, r.last.Line), Text: text, Why: why})
}
