package api

import (
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

const (
	maxContacts = 20
	maxVCard    = 64 << 10 // bytes of one card
)

// checkContacts reports what is wrong with the contacts of a message, and which.
func checkContacts(contacts []bridge.ContactCard) error {
	if len(contacts) < 1 || len(contacts) > maxContacts {
		return bridge.Invalid("contacts must hold 1 to %d contacts", maxContacts)
	}
	for i, c := range contacts {
		if strings.TrimSpace(c.DisplayName) == "" {
			return bridge.Invalid("contacts[%d].displayName is required", i)
		}
		if err := checkContactPhone(c.Phone); err != nil {
			return bridge.Invalid("contacts[%d].phone %v", i, err)
		}
		if c.VCard != "" && !isVCard(c.VCard) {
			return bridge.Invalid("contacts[%d].vcard must be one card from BEGIN:VCARD to END:VCARD of at most 64 KiB", i)
		}
	}
	return nil
}

// checkContactPhone checks that a number is nothing but digits: it goes into the
// card as it is. phoneDisplay is for a number as people read it.
func checkContactPhone(s string) error {
	if s == "" {
		return nil
	}
	switch phone, err := bridge.ParsePhone(s); {
	case err != nil:
		return err
	case phone != s:
		return bridge.Invalid("must be E.164 digits alone: did you mean %s?", phone)
	}
	return nil
}

// isVCard reports whether s is a single card. What lies between its ends is the
// caller's choice: the card replaces the generated one.
func isVCard(s string) bool {
	lines := strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return r == '\r' || r == '\n' })
	if len(s) > maxVCard || len(lines) < 2 {
		return false
	}
	begins, ends := 0, 0
	for _, line := range lines {
		switch strings.TrimRight(line, " \t") {
		case "BEGIN:VCARD":
			begins++
		case "END:VCARD":
			ends++
		}
	}
	framed := strings.HasPrefix(lines[0], "BEGIN:VCARD") && strings.HasPrefix(lines[len(lines)-1], "END:VCARD")
	return framed && begins == 1 && ends == 1 && !strings.ContainsFunc(s, isBinary)
}

func isBinary(r rune) bool {
	return unicode.IsControl(r) && r != '\r' && r != '\n' && r != '\t'
}
