// Package match compares messages of exported chats with stored ones.
//
// Texts are untrusted, so the time of a comparison grows linearly with their length.
package match

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxMention bounds the name that an export shows for a mentioned person, in characters.
const maxMention = 255

// Text is a stored text that is compared with texts of exports. After the "@" of a mention, a stored text has the person's
// number or LID, and an export has the name.
type Text struct {
	stored string
	// literals are the parts of stored between its mentions, one more than there are mentions.
	literals []string
}

// NewText returns a stored text for comparisons. spellings lists the numbers, LIDs and names of the people that it mentions.
// Unless the list is empty, every long number after an "@" is a mention, too.
func NewText(stored string, spellings ...string) Text {
	t := Text{stored: stored}
	spellings = slices.DeleteFunc(spellings, func(s string) bool { return s == "" })
	if len(spellings) == 0 || !strings.Contains(stored, "@") {
		return t
	}
	slices.Sort(spellings)
	from := 0
	for at := 0; at < len(stored); {
		i := strings.IndexByte(stored[at:], '@')
		if i < 0 {
			break
		}
		at += i
		length := cmp.Or(longestPrefix(spellings, stored[at+1:]), numberLength(stored[at+1:]))
		if length > 0 {
			t.literals = append(t.literals, stored[from:at])
			from = at + 1 + length
		}
		at += 1 + length
	}
	if t.literals != nil {
		t.literals = append(t.literals, stored[from:])
	}
	return t
}

// numberLength returns how many digits a text begins with if they may be a number or a LID; else 0.
func numberLength(s string) int {
	const fewest = 7 // digits
	if n := len(s) - len(strings.TrimLeft(s, "0123456789")); n >= fewest {
		return n
	}
	return 0
}

// longestPrefix returns the length of the longest of some sorted texts that is a prefix of s; 0 if none is.
func longestPrefix(sorted []string, s string) int {
	if most := sorted[len(sorted)-1]; len(sorted) == 1 && !strings.HasPrefix(s, most) {
		return 0
	}
	for s != "" {
		i, found := slices.BinarySearch(sorted, s)
		switch {
		case found:
			return len(s)
		case i == 0:
			return 0
		case strings.HasPrefix(s, sorted[i-1]):
			return len(sorted[i-1])
		}
		s = s[:commonPrefix(sorted[i-1], s)]
	}
	return 0
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Is reports whether a text of an export is the stored one, except for the names after the "@" of mentions. A name has at
// most 255 characters and no line break.
//
// It ends a name where the next literal first occurs, and does not try later positions. A name that contains the literal and
// another "@" counts as two mentions. The last mention extends to the last literal.
func (t Text) Is(exported string) bool {
	if t.literals == nil || exported == t.stored {
		return exported == t.stored
	}
	rest, found := strings.CutPrefix(exported, t.literals[0])
	if !found {
		return false
	}
	last := len(t.literals) - 1
	for _, literal := range t.literals[1:last] {
		name, found := strings.CutPrefix(rest, "@")
		if !found {
			return false
		}
		if rest, found = afterMention(name, literal); !found {
			return false
		}
	}
	name, found := strings.CutPrefix(rest, "@")
	if !found {
		return false
	}
	name, found = strings.CutSuffix(name, t.literals[last])
	return found && isMention(name)
}

// afterMention returns the rest of a text after a mentioned name and a literal, before the next mention.
func afterMention(s, literal string) (rest string, found bool) {
	if s == "" {
		return "", false
	}
	_, first := utf8.DecodeRuneInString(s) // the name is not empty
	window := s[:min(len(s), first+maxMention*utf8.UTFMax+len(literal)+1)]
	i := strings.Index(window[first:], literal+"@")
	if i < 0 || !isMention(s[:first+i]) {
		return "", false
	}
	return s[first+i+len(literal):], true
}

// isMention reports whether a text may be a name after the "@" of a mention.
func isMention(name string) bool {
	return name != "" && !strings.Contains(name, "\n") && utf8.RuneCountInString(name) <= maxMention
}
