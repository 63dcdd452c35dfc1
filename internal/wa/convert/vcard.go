package convert

import (
	"strings"
	"unicode"

	"bridged/internal/bridge"
)

// vcardEscaper escapes what has a meaning in a text value of a vCard 3.0
// (RFC 2426, section 5), and every line end that some reader may know.
var vcardEscaper = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`,
	"\u0085", `\n`, "\u2028", `\n`, "\u2029", `\n`)

// vcardText escapes a text value: no input can end its line or begin a property of
// its own. Other control characters, some of which end lines too, are spaces.
func vcardText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, vcardEscaper.Replace(s))
}

// vcardOf returns the contact's card: the caller's own, or one in the form that
// the apps write, whose waid makes the number linkable to a chat.
func vcardOf(c bridge.ContactCard) string {
	if c.VCard != "" {
		return c.VCard
	}
	esc := vcardText
	lines := []string{"BEGIN:VCARD", "VERSION:3.0"}
	first, last := c.FirstName, c.LastName
	if first == "" && last == "" {
		first = c.DisplayName
	}
	lines = append(lines, "N:"+esc(last)+";"+esc(first)+";;;", "FN:"+esc(c.DisplayName))
	if c.Organization != "" {
		lines = append(lines, "ORG:"+esc(c.Organization))
	}
	if c.Title != "" {
		lines = append(lines, "TITLE:"+esc(c.Title))
	}
	shown := c.PhoneDisplay
	if shown == "" && c.Phone != "" {
		shown = "+" + c.Phone
	}
	switch {
	case c.Phone != "":
		lines = append(lines, "TEL;type=CELL;type=VOICE;waid="+c.Phone+":"+esc(shown))
	case shown != "":
		lines = append(lines, "TEL;type=CELL;type=VOICE:"+esc(shown))
	}
	if c.Email != "" {
		lines = append(lines, "EMAIL;type=INTERNET:"+esc(c.Email))
	}
	return strings.Join(append(lines, "END:VCARD"), "\n")
}
