package chatexport

import "strings"

// senderCount counts the senders in the lines of a shape.
type senderCount struct {
	chat    string // see chatIn
	isName  func(name string) bool
	senders map[string]int  // the number of lines of each sender
	writers map[string]bool // senders of a text without a mark of the app
}

const maxSenders = 4096 // whose lines are counted

// newSenderCount begins with the first line.
func newSenderCount(first prefix, isName func(string) bool) senderCount {
	return senderCount{chat: chatIn(first), isName: isName, senders: make(map[string]int), writers: make(map[string]bool)}
}

// count counts a line, and returns its text, if it has a sender.
func (s *senderCount) count(h prefix) (text string, found bool) {
	sender, text, found := s.senderOf(h)
	if found && len(s.senders) < maxSenders {
		s.senders[sender]++
		if !startsWithMark(text) {
			s.writers[sender] = true
		}
	}
	return text, found
}

// senderOf splits the rest of a line into sender and text, and reports whether it has a sender: the
// longest known name with colons, or else the text before the first colon.
func (s *senderCount) senderOf(h prefix) (sender, text string, found bool) {
	sender, text, found = senderOf(h, s.chat)
	if !found || s.isName == nil {
		return sender, text, found
	}
	sign := h.form.sign()
	for from := 0; ; {
		i := strings.Index(h.rest[from:], sign)
		if i < 0 || from+i > 4*maxName {
			return sender, text, found
		}
		from += i
		name, rest := plainName(h.rest[:from]), h.rest[from+len(sign):]
		if from += len(sign); strings.Contains(name, ":") && len(name) <= maxName && s.isName(name) {
			sender, text = detached(name, len(h.rest)), strings.TrimPrefix(rest, " ")
		}
	}
}

// sign is the separator between sender and text in a form.
func (f form) sign() string {
	if f == comma {
		return " : "
	}
	return ":"
}

// senderOf splits the text after a prefix into sender and text, and reports whether it has a sender.
// The chat is the result of [chatIn].
func senderOf(h prefix, chat string) (sender, text string, found bool) {
	if text, found = strings.CutPrefix(h.rest, chat); found && chat != "" && strings.HasPrefix(text, " ") {
		return detached(plainName(strings.TrimSuffix(chat, ":")), len(chat)), text[1:], true
	}
	sign := h.form.sign()
	sender, text, found = strings.Cut(h.rest, sign)
	for found && sign == ":" && text != "" && text[0] != ' ' && !strings.HasPrefix(text, "\u00a0") {
		if len(sender) > 4*maxName { // also without its marks
			return "", "", false
		}
		more, rest, again := strings.Cut(text, sign)
		sender, text, found = sender+sign+more, rest, again
	}
	sender = detached(plainName(sender), len(h.rest))
	return sender, strings.TrimPrefix(text, " "), found && sender != "" && len(sender) <= maxName
}

// chatIn returns the chat's name at the beginning of an iPhone's first line, and the colon after it if
// the name has colons of its own. The app marks its own words about the chat.
func chatIn(h prefix) string {
	sender, text, found := senderOf(h, "")
	if h.form != brackets || !found || startsWithMark(text) {
		return ""
	}
	for from := 0; ; {
		i := strings.Index(h.rest[from:], ": ")
		if i < 0 {
			return ""
		}
		from += i + len(": ")
		if said := h.rest[from:]; startsWithMark(said) {
			if name := plainName(h.rest[:from-len(": ")]); isTrailing(said) || len(name) > maxName || name == sender {
				return ""
			}
			return h.rest[:from-len(" ")]
		}
	}
}

// maxName bounds the name of a sender, in bytes.
const maxName = 400

// plainName returns a name without the characters that the app adds for people who are not in the
// address book.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case isMark(r) && r != '\u200d' && r != '\u200c':
			return -1
		case r == '\u00a0' || r == '\u202f' || r == '\t':
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), "~"))
}
