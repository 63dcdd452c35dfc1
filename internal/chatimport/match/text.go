// Package match compares messages of exported chats with stored ones.
//
// Texts come from strangers: every comparison takes time that grows linearly with them.
package match

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxMention bounds the name that an export shows for a mentioned person, in characters.
const maxMention = 255

// Text compares texts of exports with a stored text, in which people may be mentioned under other
// spellings: stored texts have their numbers or LIDs after the "@", exports their names.
type Text struct {
	stored string
	// literals are the parts of stored between the mentions in it: one more than there are mentions.
	literals []string
}

// NewText returns a stored text for comparisons. spellings lists what may follow the "@" of a
// mention in it, such as numbers, LIDs and names of the people whom it mentions. If it mentions somebody, other numbers after an
// "@" are mentions, too.
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

// numberLength returns how many digits a text begins with, if they may be the number or the LID of a person of whom the store
// does not know it; else 0.
func numberLength(s string) int {
	const fewest = 7 // digits
	if n := len(s) - len(strings.TrimLeft(s, "0123456789")); n >= fewest {
		return n
	}
	return 0
}

// longestPrefix returns the length of the longest of some sorted texts that s begins with; 0 if it
// begins with none of them.
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

// Is reports whether a text of an export is the stored one: the same but for what follows the "@"
// of the mentions, which is at most 255 characters of one line.
//
// It takes each literal at the first place after its mention, without trying later ones: a name with
// the literal and another "@" in it counts as two mentions, and the last mention takes up the rest.
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

// afterMention returns what follows a mentioned name and then a literal, which another mention follows.
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

// isMention reports whether a text may be a name that an export shows after the "@" of a mention.
func isMention(name string) bool {
	return name != "" && !strings.Contains(name, "\n") && utf8.RuneCountInString(name) <= maxMention
}
