package store

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// rule returns what tells whether a stored message is one of an export, by the same sender and
// of the same minute; nil where it does not apply.
type rule func(m *bridge.ExportedMessage) func(*storedMessage) bool

// sure and sameness list rules from the surest on. What those of sure find is the same beyond doubt.
var (
	sure     = []rule{sameFileAndText, sameFile, sameCard, sameContent}
	sameness = slices.Concat(sure, []rule{namedInText, leftOut, deletedSince})
)

func sameFile(m *bridge.ExportedMessage) func(*storedMessage) bool {
	if m.SHA256 == nil {
		return nil
	}
	return func(stored *storedMessage) bool { return bytes.Equal(m.SHA256, stored.ref.FileSHA256) }
}

func sameFileAndText(m *bridge.ExportedMessage) func(*storedMessage) bool {
	isSame := sameFile(m)
	if isSame == nil {
		return nil
	}
	text := sameSpelling(m.Caption)
	return func(stored *storedMessage) bool { return isSame(stored) && isSameText(text, stored) }
}

// sameCard finds contacts, which one phone writes with their names and the other without: before
// sameContent takes another file without a name for them.
func sameCard(m *bridge.ExportedMessage) func(*storedMessage) bool {
	switch {
	case m.MessageType != "documentMessage" || m.SHA256 != nil:
		return nil
	case m.FileName == "" && m.Caption == "":
		return func(stored *storedMessage) bool {
			return stored.exported && !stored.deleted && stored.isFile() && cardName(cmp.Or(stored.name, stored.text)) != ""
		}
	case cardName(m.FileName) != "":
		return func(stored *storedMessage) bool {
			return stored.exported && !stored.deleted && stored.kind == "documentMessage" && !stored.hasFile && stored.text == ""
		}
	}
	return nil
}

func sameContent(m *bridge.ExportedMessage) func(*storedMessage) bool {
	switch {
	case m.DeletedAt != nil:
		return func(stored *storedMessage) bool { return stored.deleted }
	case m.MessageType == bridge.TypeViewOnce:
		return func(stored *storedMessage) bool {
			return !stored.deleted && (stored.viewOnce || stored.kind == bridge.TypeViewOnce)
		}
	case m.Location != nil:
		return func(stored *storedMessage) bool {
			return !stored.deleted && strings.HasSuffix(strings.ToLower(stored.kind), "locationmessage")
		}
	}
	text := sameSpelling(m.Caption)
	poll, card := pollOf(text), cardName(m.FileName)
	return func(stored *storedMessage) bool {
		switch {
		case stored.deleted:
			return false
		case stored.isContact():
			return card != "" && card == stored.text
		case stored.isPoll():
			return isPollOf(text, stored.text)
		case isFile(m.MessageType) != stored.isFile():
			return false
		case isSameText(text, stored), poll != "" && stored.exported && poll == pollOf(stored.text):
			return !stored.keepsOther(m.SHA256)
		}
		isNamed := m.FileName != "" && m.FileName == stored.name || standsFor(stored.text, m.FileName, text) || standsFor(text, stored.name, stored.text)
		return isNamed && !stored.keepsOther(m.SHA256)
	}
}

// standsFor reports whether a text stands for a file: it is its name, perhaps without the ending, and
// then its caption.
func standsFor(text, file, caption string) bool {
	file, caption = sameSpelling(file), sameSpelling(caption)
	name, _, _ := strings.Cut(text, "\n")
	if file == "" || name != file && name != strings.TrimSuffix(file, path.Ext(file)) {
		return false
	}
	return text == name || text == name+"\n"+caption
}

// namedInText finds documents that stand as a text where the export had, or has, only their
// names.
func namedInText(m *bridge.ExportedMessage) func(*storedMessage) bool {
	switch {
	case m.MessageType == bridge.TypeText && m.DeletedAt == nil:
		text := sameSpelling(m.Caption)
		return func(stored *storedMessage) bool {
			return stored.exported && stored.hasFile && isNoteOf(text, stored.name)
		}
	case m.SHA256 != nil && m.FileName != "":
		return func(stored *storedMessage) bool {
			return stored.exported && stored.kind == bridge.TypeText && isNoteOf(stored.text, m.FileName)
		}
	}
	return nil
}

// isNoteOf reports whether a text is a file's name with the app's words behind it, in brackets.
func isNoteOf(text, file string) bool {
	first, _, _ := strings.Cut(text, "\n")
	words, is := strings.CutPrefix(first, sameSpelling(file)+" ")
	return is && file != "" && (strings.HasPrefix(words, "(") && strings.HasSuffix(words, ")") || strings.HasPrefix(words, "<") && strings.HasSuffix(words, ">"))
}

// leftOut finds files that an export has left out, or had: some leave their captions out, too,
// and iPhones the names of contacts.
func leftOut(m *bridge.ExportedMessage) func(*storedMessage) bool {
	if !isFile(m.MessageType) {
		return nil
	}
	isCard := cardName(m.FileName) != "" || m.MessageType == "documentMessage" && m.SHA256 == nil && m.FileName == ""
	return func(stored *storedMessage) bool {
		if stored.isContact() {
			return isCard
		}
		return stored.isFile() && (m.SHA256 == nil && m.Content == "" || !stored.hasFile && stored.text == "")
	}
}

// deletedSince finds what was deleted since it was exported: it must not come back.
func deletedSince(*bridge.ExportedMessage) func(*storedMessage) bool {
	return func(stored *storedMessage) bool { return stored.deleted }
}

// deletedLater finds what was deleted since it was stored, which keeps it. A wrong one costs
// nothing but the mark of a deletion.
func deletedLater(m *bridge.ExportedMessage) func(*storedMessage) bool {
	if m.DeletedAt == nil {
		return nil
	}
	return func(*storedMessage) bool { return true }
}

func (m *storedMessage) isFile() bool { return m.hasFile || isFile(m.kind) }

// keepsOther reports whether a stored message has a file from an export, which is not the one
// with a hash.
func (m *storedMessage) keepsOther(sum []byte) bool {
	return m.ref.Kept && sum != nil && !bytes.Equal(sum, m.ref.FileSHA256)
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

// isSameText reports whether a text is a stored one, in which people are mentioned by numbers
// where an export has their names.
func isSameText(text string, stored *storedMessage) bool {
	if text == stored.text || len(stored.mentions) == 0 || !strings.Contains(text, "@") {
		return text == stored.text
	}
	pattern := regexp.QuoteMeta(stored.text)
	for _, jid := range stored.mentions {
		pattern = strings.ReplaceAll(pattern, "@"+regexp.QuoteMeta(jid.User()), "@.{1,255}?")
	}
	matches, err := regexp.MatchString("^(?s:"+pattern+")$", text)
	return err == nil && matches
}

func (m *storedMessage) isContact() bool { return strings.HasPrefix(m.kind, "contact") }

func (m *storedMessage) isPoll() bool { return strings.HasPrefix(m.kind, "pollCreation") }

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
