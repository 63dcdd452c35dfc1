package chatexport

import (
	"cmp"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxText   = 1 << 20 // bytes of one message
	maxDoubts = 200
	maxQuote  = 120 // characters of a line in a doubt
)

// Notes is what there is to say about an export beside its messages.
type Notes struct {
	System int     // notices of the app
	Doubts []Doubt // of which there are at most 200
}

// reader reads the messages of a text.
type reader struct {
	f     format
	has   func(name string) bool // whether the archive has a file
	notes *Notes

	last    Message // that is being read
	begin   string  // its first line
	word    string  // beside its time, if it is not known
	raw     strings.Builder
	isOpen  bool
	notice  bool            // it is one of the app
	wrote   map[string]bool // who has sent messages
	told    map[string]bool // words whose meaning is a guess
	lastDay int64
}

// messages reads a text. What is no message is noted.
func (f format) messages(text io.Reader, has func(string) bool, notes *Notes) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		r := &reader{f: f, has: has, notes: notes, wrote: make(map[string]bool), told: make(map[string]bool)}
		for l, err := range lines(text) {
			if err != nil {
				yield(Message{}, err)
				return
			}
			h, at, begins := r.begins(l)
			if !begins {
				r.goOn(l)
				continue
			}
			if m, ok := r.close(); ok && !yield(m, nil) {
				return
			}
			r.open(l, h, at)
		}
		if m, ok := r.close(); ok {
			yield(m, nil)
		}
	}
}

// begins reports whether a message begins with a line.
func (r *reader) begins(l line) (h head, at time.Time, begins bool) {
	if h, begins = headOf(l.text); !begins {
		return h, at, false
	}
	if h.shape != r.f.shape {
		r.doubt(l, "it begins like a message, but not in the form of the others: taken as a part of the message above")
		return h, at, false
	}
	if at, begins = r.f.time(h); !begins {
		r.doubt(l, "its date is none in the order "+string(r.f.order)+": taken as a part of the message above")
	}
	return h, at, begins
}

// open begins a message.
func (r *reader) open(l line, h head, at time.Time) {
	r.isOpen, r.last, r.begin, r.word = true, Message{Line: l.number, At: at}, l.text, h.word
	r.raw.Reset()
	sender, text, found := senderOf(h)
	r.notice = !found || r.isNotice(l, h, sender)
	r.last.Sender = sender
	r.add(text, l)
	day := at.Unix() / (24 * 60 * 60)
	switch {
	case isFuture(at, r.f.now):
		r.doubtMessage(l, "its date lies in the future")
		return
	case at.Year() < firstYear:
		r.doubtMessage(l, "its date is older than the app")
		return
	case r.lastDay > day+backwards:
		r.doubtMessage(l, "it is much older than the message above")
	}
	r.lastDay = day
}

// backwards is by how many days a message may be older than the one above it: phones sort by
// when a message came.
const backwards = 31

// isNotice reports whether what stands before the first colon is no sender, but the beginning
// of a notice, such as of a new description of a group.
func (r *reader) isNotice(l line, h head, sender string) bool {
	if r.f.senders[sender] != 1 {
		return false
	}
	if h.form == brackets && startsWithMark(strings.TrimLeft(h.rest, " ")) {
		return true // the app's own words, in which there happens to be a colon
	}
	if !isOpenQuote(sender) && !r.beginsSentence(sender) && !isLong(sender) {
		return false
	}
	r.doubt(l, "what stands before the colon is probably no sender: taken for a notice")
	return true
}

// isLong reports whether a text is longer than a name.
func isLong(s string) bool { return strings.Count(s, " ") >= 8 || utf8.RuneCountInString(s) > 60 }

// isOpenQuote reports whether a text ends within quotation marks.
func isOpenQuote(s string) bool {
	opened := 0
	for _, r := range s {
		switch r {
		case '“', '„', '«', '「', '『':
			opened++
		case '”', '»', '」', '』':
			opened--
		}
	}
	return opened > 0 || strings.Count(s, `"`)%2 == 1
}

// beginsSentence reports whether a text is a sender with at least three words behind it.
func (r *reader) beginsSentence(s string) bool {
	for i := range len(s) {
		if s[i] == ' ' && r.f.senders[s[:i]] > 1 && strings.Count(s[i:], " ") >= 3 {
			return true
		}
	}
	return false
}

// goOn adds a line to the message that is being read.
func (r *reader) goOn(l line) {
	if !r.isOpen {
		if strings.TrimFunc(l.text, func(c rune) bool { return isMark(c) || c == ' ' }) != "" {
			r.doubt(l, "it belongs to no message: left out")
		}
		return
	}
	r.raw.WriteByte('\n')
	r.add(l.text, l)
}

func (r *reader) add(text string, l line) {
	room := max(0, maxText-r.raw.Len())
	if l.cut || len(text) > room {
		r.doubt(l, "it is too long: its end is left out")
		for room > 0 && room < len(text) && !utf8.RuneStart(text[room]) {
			room--
		}
	}
	r.raw.WriteString(text[:min(len(text), room)])
}

// close ends the message that is being read, and reports whether it is one.
func (r *reader) close() (Message, bool) {
	if !r.isOpen {
		return Message{}, false
	}
	m := r.last
	r.isOpen = false
	if !r.notice && r.body(&m, strings.TrimRight(r.raw.String(), "\n")) {
		r.wrote[m.Sender] = true
		r.doubtWord(m.Line)
		return m, true
	}
	if !r.notice && r.wrote[m.Sender] && !strings.Contains(m.Text, m.Sender) {
		r.doubt(line{number: m.Line, text: r.raw.String()}, "the app has marked it as its own text: taken for a notice")
	}
	r.notes.System++
	return Message{}, false
}

// doubtMessage notes a doubt about a line unless it begins a notice, of which there is nothing left.
func (r *reader) doubtMessage(l line, why string) {
	if !r.notice {
		r.doubt(l, why)
	}
}

func (r *reader) doubt(l line, why string) {
	if len(r.notes.Doubts) == maxDoubts {
		return
	}
	text := plainText(l.text)
	for i := range text {
		if utf8.RuneCountInString(text[:i]) == maxQuote {
			text = text[:i] + "…"
			break
		}
	}
	r.notes.Doubts = append(r.notes.Doubts, Doubt{Line: cmp.Or(l.number, r.last.Line), Text: text, Why: why})
}
