package match

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// rule returns a function that reports whether a stored message is a message of an export, by the
// same sender and of the same minute; nil if the rule does not apply to that message.
type rule func(m *Message) func(*Stored) bool

// sure and sameness list rules from the surest on. What those of sure find is the same beyond doubt.
var (
	sure     = []rule{sameFileAndText, sameFile, sameCard, sameContent}
	sameness = slices.Concat(sure, []rule{namedInText, leftOut, deletedSince})
)

func sameFile(m *Message) func(*Stored) bool {
	if m.SHA256 == nil {
		return nil
	}
	return func(stored *Stored) bool { return bytes.Equal(m.SHA256, stored.Ref.FileSHA256) }
}

func sameFileAndText(m *Message) func(*Stored) bool {
	isSame := sameFile(m)
	if isSame == nil {
		return nil
	}
	return func(stored *Stored) bool { return isSame(stored) && stored.text.Is(m.text) }
}

// sameCard finds contacts, which one phone writes with their names and the other without: before
// sameContent takes another file without a name for them.
func sameCard(m *Message) func(*Stored) bool {
	switch {
	case m.MessageType != "documentMessage" || m.SHA256 != nil:
		return nil
	case m.FileName == "" && m.Caption == "":
		return func(stored *Stored) bool {
			return stored.Exported && !stored.Deleted && stored.isFile() && cardName(cmp.Or(stored.FileName, stored.Text)) != ""
		}
	case cardName(m.FileName) != "":
		return func(stored *Stored) bool {
			return stored.Exported && !stored.Deleted && stored.Kind == "documentMessage" && !stored.HasFile && stored.Text == ""
		}
	}
	return nil
}

func sameContent(m *Message) func(*Stored) bool {
	switch {
	case m.DeletedAt != nil:
		return func(stored *Stored) bool { return stored.Deleted }
	case m.MessageType == bridge.TypeViewOnce:
		return func(stored *Stored) bool {
			return !stored.Deleted && (stored.ViewOnce || stored.Kind == bridge.TypeViewOnce)
		}
	case m.Location != nil:
		return func(stored *Stored) bool {
			return !stored.Deleted && strings.HasSuffix(strings.ToLower(stored.Kind), "locationmessage")
		}
	}
	text, file := m.text, sameSpelling(m.FileName)
	poll, card := pollOf(text), cardName(m.FileName)
	return func(stored *Stored) bool {
		switch {
		case stored.Deleted:
			return false
		case stored.isContact():
			return card != "" && card == stored.Text
		case stored.isPoll():
			return isPollOf(text, stored.Text)
		case isFile(m.MessageType) != stored.isFile():
			return false
		case stored.text.Is(text), poll != "" && stored.Exported && poll == stored.pollOf():
			return !stored.keepsOther(m.SHA256)
		}
		isNamed := m.FileName != "" && m.FileName == stored.FileName || standsFor(stored.Text, file, text) || standsFor(text, stored.fileName, stored.Text)
		return isNamed && !stored.keepsOther(m.SHA256)
	}
}

// standsFor reports whether a text stands for a file: it is its name, perhaps without the ending, and
// then its caption. All three are as texts are compared.
func standsFor(text, file, caption string) bool {
	if file == "" || !strings.HasPrefix(text, strings.TrimSuffix(file, path.Ext(file))) {
		return false
	}
	name, below, several := strings.Cut(text, "\n")
	return (name == file || name == strings.TrimSuffix(file, path.Ext(file))) && (!several || below == caption)
}

// namedInText finds documents that stand as a text where the export had, or has, only their
// names.
func namedInText(m *Message) func(*Stored) bool {
	switch {
	case m.MessageType == bridge.TypeText && m.DeletedAt == nil:
		return func(stored *Stored) bool {
			return stored.Exported && stored.HasFile && isNoteOf(m.text, stored.fileName)
		}
	case m.SHA256 != nil && m.FileName != "":
		file := sameSpelling(m.FileName)
		return func(stored *Stored) bool {
			return stored.Exported && stored.Kind == bridge.TypeText && isNoteOf(stored.Text, file)
		}
	}
	return nil
}

// isNoteOf reports whether a text is a file's name with the app's words after it, in brackets. Both
// are as texts are compared.
func isNoteOf(text, file string) bool {
	if file == "" || !strings.HasPrefix(text, file+" ") {
		return false
	}
	words, _, _ := strings.Cut(text[len(file)+1:], "\n")
	return strings.HasPrefix(words, "(") && strings.HasSuffix(words, ")") || strings.HasPrefix(words, "<") && strings.HasSuffix(words, ">")
}

// StandsFor reports whether a stored text stands for a file from an export that was left out before:
// its name, perhaps with its caption or with the app's words after it.
func StandsFor(stored, file, caption string) bool {
	stored, file = sameSpelling(stored), sameSpelling(file)
	return standsFor(stored, file, sameSpelling(caption)) || isNoteOf(stored, file)
}

// leftOut finds files that an export has left out, or had: some leave their captions out, too,
// and iPhones the names of contacts.
func leftOut(m *Message) func(*Stored) bool {
	if !isFile(m.MessageType) {
		return nil
	}
	isCard := cardName(m.FileName) != "" || m.MessageType == "documentMessage" && m.SHA256 == nil && m.FileName == ""
	return func(stored *Stored) bool {
		if stored.isContact() {
			return isCard
		}
		return stored.isFile() && (m.SHA256 == nil && m.Content == "" || !stored.HasFile && stored.Text == "")
	}
}

// deletedSince finds what was deleted since it was exported: it must not come back.
func deletedSince(*Message) func(*Stored) bool {
	return func(stored *Stored) bool { return stored.Deleted }
}

// deletedLater finds what was deleted since it was stored, which keeps it. A wrong one costs
// nothing but the mark of a deletion.
func deletedLater(m *Message) func(*Stored) bool {
	if m.DeletedAt == nil {
		return nil
	}
	return func(*Stored) bool { return true }
}

func isFile(kind string) bool {
	switch kind {
	case bridge.TypeOmitted, "imageMessage", "videoMessage", "ptvMessage", "audioMessage", "documentMessage", "stickerMessage":
		return true
	}
	return false
}

// sameSpelling returns a text without what phones and exports write differently.
func sameSpelling(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\u200e' || r == '\u200f' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
			return -1
		case r == '\u00a0' || r == '\u202f':
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// cardName returns the name of the contact that a file has; empty for another file.
func cardName(file string) string {
	if ext := path.Ext(file); strings.EqualFold(ext, ".vcf") {
		return sameSpelling(strings.TrimSuffix(file, ext))
	}
	return ""
}

// isPollOf reports whether a text is a poll with a question, as exports write it.
func isPollOf(text, question string) bool {
	_, poll, _ := strings.Cut(text, "\n")
	return poll == question || strings.HasPrefix(poll, question+"\n")
}

// pollOption matches an option of a poll in an export, with its votes.
var pollOption = regexp.MustCompile(`(?m)^([^:：\n]{1,40}[:：] .*) \([^()\n]*\pN[^()\n]*\)$`)

// pollOf returns a poll in an export without its votes, which change; empty for another text.
func pollOf(text string) string {
	head, options, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(head, ":") && !strings.HasSuffix(head, "：") || len(pollOption.FindAllStringIndex(options, 2)) < 2 {
		return ""
	}
	return pollOption.ReplaceAllString(text, "$1")
}
