package bridge

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The name of a group without a subject shows this many members and characters at most. The
// apps limit subjects to as many characters.
const (
	maxNamedMembers = 4
	maxMembersName  = 100
)

// NameByMembers returns the name of a group without a subject: its members, except the
// account, like "Ada, Grace, 3 others". names are in the order in which they are shown;
// members without a name are only counted. It returns "" if there are no members.
func NameByMembers(names []string, unnamed int) string {
	var shown []string
	length := 0
	rest := len(names) + unnamed
	for _, name := range names[:min(len(names), maxNamedMembers)] {
		name = Beginning(strings.Join(strings.Fields(name), " "), maxMembersName/2)
		length += utf8.RuneCountInString(name) + len(", ")
		if length > maxMembersName-len(", 9999 others") {
			break
		}
		shown = append(shown, name)
		rest--
	}
	switch {
	case rest == 0:
	case len(shown) == 0:
		shown = append(shown, Counted(rest, "member"))
	default:
		shown = append(shown, Counted(rest, "other"))
	}
	return strings.Join(shown, ", ")
}

// Counted returns a number with a noun, whose plural has an s.
func Counted[N int | int64 | uint32](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
