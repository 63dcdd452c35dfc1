package store

import (
	"strings"
	"unicode/utf8"
)

// maxSortName bounds what contacts are sorted by, in characters: it stands in
// cursors.
const maxSortName = 64

// sortName returns what a person is sorted by; empty where they have no name.
func (p person) sortName() string {
	name := strings.TrimSpace(fold(p.displayName()))
	for i := range name {
		if utf8.RuneCountInString(name[:i]) == maxSortName {
			return name[:i]
		}
	}
	return name
}

// foldedNames returns all names of a person as they are searched: a username with
// the @ that people write before it.
func (p person) foldedNames() string {
	names := []string{fold(p.name), fold(p.push), fold(p.business)}
	if p.username != "" {
		names = append(names, "@"+fold(p.username))
	}
	return strings.TrimSpace(strings.Join(names, "\n"))
}

// foldedChat returns what the chat with a person is found by beside its JID: its
// name, the LID where that is not its JID, and the username.
func (p person) foldedChat() string {
	folded := fold(chatName(p))
	if p.pn != "" && p.lid != "" {
		folded += "\n" + string(p.lid)
	}
	if p.username != "" {
		folded += "\n@" + fold(p.username)
	}
	return folded
}

func (t *writeTx) saveNames(p person) {
	t.people.set(p)
	t.Run("UPDATE people SET name = ?, push_name = ?, business_name = ?, username = ?, sort_name = ?, folded_names = ? WHERE id = ?",
		p.name, p.push, p.business, p.username, p.sortName(), p.foldedNames(), p.id)
	t.updatePrivateChat(p)
}
