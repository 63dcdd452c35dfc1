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

// checkContacts checks the contacts of one message, naming the faulty one.
func checkContacts(contacts []bridge.ContactCard) error {
	if len(contacts) < 1 || len(contacts) > maxContacts {
		return bridge.Invalid("contacts must hold 1 to %d contacts", maxContacts)
	}
	for i, c := range contacts {
		if strings.TrimSpace(c.DisplayName) == "" {
			return bridge.Invalid("contacts[%d].displayName is required", i)
		}
		if c.Phone != "" && !isPhone(c.Phone) {
			return bridge.Invalid("contacts[%d].phone must be E.164 digits without +, as in 15551234567", i)
		}
		if c.VCard != "" && !isVCard(c.VCard) {
			return bridge.Invalid("contacts[%d].vcard must be one card from BEGIN:VCARD to END:VCARD of at most 64 KiB", i)
		}
	}
	return nil
}

// isPhone says whether s is a number in E.164 digits: a country code, which
// never starts with 0, and 15 digits at most.
func isPhone(s string) bool {
	if len(s) < 5 || len(s) > 15 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// isVCard says whether s is a single card. What lies between its ends is the
// caller's: the card overrides everything that would be generated.
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
