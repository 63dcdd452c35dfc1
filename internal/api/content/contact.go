package content

import (
	"strings"

	"bridged/internal/bridge"
)

// SavedName saves a person's name in the account's address book.
type SavedName struct {
	Name      *string `json:"name"` // empty removes the person
	FirstName *string `json:"firstName"`
}

// Entry returns the entry in the address book. The first name is the first word unless it is given.
func (s SavedName) Entry() (name bridge.ContactName, err error) {
	if s.Name == nil {
		return name, bridge.Invalid("give name: the name in the address book, or an empty text to remove the person from it")
	}
	name.Full = strings.TrimSpace(*s.Name)
	name.First, _, _ = strings.Cut(name.Full, " ")
	if s.FirstName != nil {
		name.First = strings.TrimSpace(*s.FirstName)
	}
	return name, name.Check()
}
