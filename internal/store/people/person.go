package people

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/folding"
)

// Person is the person of a phone number, a LID, or both.
type Person struct {
	ID           int64
	PN, LID      bridge.JID
	Name         string // from the account's address book
	PushName     string // chosen by the person
	BusinessName string // verified by the network
	Username     string // unique on the network
}

// JID returns the canonical JID: the phone JID if it is known, else the LID.
func (p Person) JID() bridge.JID { return cmp.Or(p.PN, p.LID) }

// DisplayName returns the best known name, or "".
func (p Person) DisplayName() string {
	return cmp.Or(p.Name, p.PushName, p.BusinessName, p.Username)
}

// UsernameOrNil returns the username, or nil.
func (p Person) UsernameOrNil() *string {
	if p.Username == "" {
		return nil
	}
	return new(p.Username) // a copy: p does not leave the stack
}

// maxSortName limits sort keys, in characters, because cursors contain them.
const maxSortName = 64

// sortName returns the sort key of a person, "" if they have no name.
func (p Person) sortName() string {
	name := strings.TrimSpace(folding.FoldStripped(p.DisplayName()))
	for i := range name {
		if utf8.RuneCountInString(name[:i]) == maxSortName {
			return name[:i]
		}
	}
	return name
}

// foldedNames returns all names of a person for searches, the username with an @.
func (p Person) foldedNames() string {
	names := []string{folding.FoldStripped(p.Name), folding.FoldStripped(p.PushName), folding.FoldStripped(p.BusinessName)}
	if p.Username != "" {
		names = append(names, "@"+folding.FoldStripped(p.Username))
	}
	return strings.TrimSpace(strings.Join(names, "\n"))
}

// FoldedChat returns the searchable text of the chat with a person: the name, the LID unless it is the
// JID, and the username.
func (p Person) FoldedChat() string {
	folded := folding.FoldStripped(p.ChatName())
	if p.PN != "" && p.LID != "" {
		folded += "\n" + string(p.LID)
	}
	if p.Username != "" {
		folded += "\n@" + folding.FoldStripped(p.Username)
	}
	return folded
}

// ChatName returns the name of the chat with a person.
func (p Person) ChatName() string { return cmp.Or(p.DisplayName(), p.JID().User()) }

// Forms returns the number and the LID of a person, as far as they are known.
func (p Person) Forms() []bridge.JID {
	return slices.DeleteFunc([]bridge.JID{p.PN, p.LID}, func(jid bridge.JID) bool { return jid == "" })
}

// Finder finds a person by a JID in either form.
type Finder func(jid bridge.JID) (Person, bool)

func (f Finder) Canonical(jid bridge.JID) bridge.JID {
	if p, known := f(jid); known {
		return p.JID()
	}
	return jid
}

func (f Finder) LID(jid bridge.JID) bridge.JID {
	if p, known := f(jid); known {
		return p.LID
	}
	if jid.IsLID() {
		return jid
	}
	return ""
}
