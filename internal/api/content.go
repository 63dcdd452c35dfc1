package api

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxContacts = 20
	maxVCard    = 64 << 10 // bytes of one card
)

// checkContacts returns an error that names the first invalid contact of a message.
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

// checkContactPhone refuses everything but digits, since the card has the number unchanged.
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

// isVCard reports whether s is a single card. Its properties are not checked.
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

// maxEmoji bounds an emoji in runes: the longest sequences have 10.
const maxEmoji = 16

// emoji matches one emoji. It follows the grammar of emoji sequences (Unicode Technical
// Standard 51) without the list of emoji, which grows every year. A picture is a symbol, one of
// the few emoji that are not symbols, or any character of the emoji blocks, assigned or not,
// followed by its style, skin tone and tags. Joined pictures are one emoji.
var emoji = func() *regexp.Regexp {
	const (
		regional = `[\x{1F1E6}-\x{1F1FF}]`
		symbol   = `[^\P{So}\x{1F1E6}-\x{1F1FF}\x{FFFD}]|[^\P{Sm}\x00-\x7F]|[‼⁉ℹ〰〽]|[\x{1F000}-\x{1F1E5}\x{1F200}-\x{1FAFF}]`
		style    = `[\x{FE0E}\x{FE0F}]?`
		tone     = `[\x{1F3FB}-\x{1F3FF}]?`
		tags     = `(?:[\x{E0020}-\x{E007E}]*\x{E007F})?`
		picture  = `(?:` + symbol + `)` + style + tone + style + tags
		joiner   = `\x{200D}`
		keycap   = `[#*0-9]\x{FE0F}?\x{20E3}`
	)
	return regexp.MustCompile(`^(?:` + regional + `{2}|` + keycap + `|` + picture + `(?:` + joiner + picture + `)*)$`)
}()

// isEmoji reports whether s is one emoji or empty.
func isEmoji(s string) bool {
	return s == "" || utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxEmoji && emoji.MatchString(s)
}
