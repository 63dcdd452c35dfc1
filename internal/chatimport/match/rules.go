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

// rule returns a function that reports whether a stored message of the same sender and minute is a message of an export. It
// returns nil if the rule does not apply to the message.
type rule func(m *Message) func(*Stored) bool

// rules lists all rules, the most reliable first. exactRules do not guess.
var (
	exactRules = []rule{sameFileAndText, sameFile, sameCard, sameContent}
	rules      = slices.Concat(exactRules, []rule{fileNamedInText, omittedFile, deletedAfterExport})
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
	return func(stored *Stored) bool { return isSame(stored) && stored.content.Is(m.text) }
}

// sameCard matches contact cards, which Android exports with their names and iPhones without. It comes before sameContent,
// which matches other files without names with them.
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
	text, file := m.text, normalise(m.FileName)
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
		case stored.content.Is(text), poll != "" && stored.Exported && poll == stored.pollOf():
			return !stored.hasOtherFile(m.SHA256)
		}
		isNamed := m.FileName != "" && m.FileName == stored.FileName || isNameOf(stored.Text, file, text) || isNameOf(text, stored.fileName, stored.Text)
		return isNamed && !stored.hasOtherFile(m.SHA256)
	}
}

// isNameOf reports whether a text is the name of a file, with or without the extension, optionally followed by a line with the
// caption. All three are normalised.
func isNameOf(text, file, caption string) bool {
	if file == "" || !strings.HasPrefix(text, strings.TrimSuffix(file, path.Ext(file))) {
		return false
	}
	name, rest, hasRest := strings.Cut(text, "\n")
	return (name == file || name == strings.TrimSuffix(file, path.Ext(file))) && (!hasRest || rest == caption)
}

// fileNamedInText matches documents with texts that consist of their names.
func fileNamedInText(m *Message) func(*Stored) bool {
	switch {
	case m.MessageType == bridge.TypeText && m.DeletedAt == nil:
		return func(stored *Stored) bool {
			return stored.Exported && stored.HasFile && isNoteOf(m.text, stored.fileName)
		}
	case m.SHA256 != nil && m.FileName != "":
		file := normalise(m.FileName)
		return func(stored *Stored) bool {
			return stored.Exported && stored.Kind == bridge.TypeText && isNoteOf(stored.Text, file)
		}
	}
	return nil
}

// isNoteOf reports whether a text is the name of a file followed by a note of the app in brackets. Both are normalised.
func isNoteOf(text, file string) bool {
	if file == "" || !strings.HasPrefix(text, file+" ") {
		return false
	}
	note, _, _ := strings.Cut(text[len(file)+1:], "\n")
	return strings.HasPrefix(note, "(") && strings.HasSuffix(note, ")") || strings.HasPrefix(note, "<") && strings.HasSuffix(note, ">")
}

// NamesFile reports whether a stored text only names a file that an earlier export omitted.
func NamesFile(stored, file, caption string) bool {
	stored, file = normalise(stored), normalise(file)
	return isNameOf(stored, file, normalise(caption)) || isNoteOf(stored, file)
}

// omittedFile matches files if this export or an earlier one omits them. Some exports also omit captions, and iPhones the
// names of contacts.
func omittedFile(m *Message) func(*Stored) bool {
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

// deletedAfterExport matches messages that were deleted after the export, so that they are not stored again.
func deletedAfterExport(*Message) func(*Stored) bool {
	return func(stored *Stored) bool { return stored.Deleted }
}

// deletedAfterStoring matches messages that were deleted before the export and are stored with their content. They stay as
// they are, so a wrong match loses only the mark of a deletion.
func deletedAfterStoring(m *Message) func(*Stored) bool {
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

// normalise removes from a text what phones and exports write differently: carriage returns, directional marks, special spaces.
func normalise(s string) string {
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

// cardName returns the name of the contact in the name of a contact card; empty for another file.
func cardName(file string) string {
	if ext := path.Ext(file); strings.EqualFold(ext, ".vcf") {
		return normalise(strings.TrimSuffix(file, ext))
	}
	return ""
}

// isPollOf reports whether a text is an exported poll with a question.
func isPollOf(text, question string) bool {
	_, poll, _ := strings.Cut(text, "\n")
	return poll == question || strings.HasPrefix(poll, question+"\n")
}

// pollOption matches an option of a poll in an export, with its votes.
var pollOption = regexp.MustCompile(`(?m)^([^:：\n]{1,40}[:：] .*) \([^()\n]*\pN[^()\n]*\)$`)

// pollOf returns an exported poll without its votes, which change; empty for another text.
func pollOf(text string) string {
	heading, options, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(heading, ":") && !strings.HasSuffix(heading, "：") || len(pollOption.FindAllStringIndex(options, 2)) < 2 {
		return ""
	}
	return pollOption.ReplaceAllString(text, "$1")
}
