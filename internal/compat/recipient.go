package compat

import (
	"encoding/json"
	"strings"

	"bridged/internal/bridge"
)

// Recipient reads a person or a group as other bridges' clients write them: a phone number
// in any spelling, or a JID, also one with @c.us or of a device. Digits too long for a
// phone number are a group.
func Recipient(text string) (bridge.JID, error) {
	text = strings.TrimSpace(text)
	user, server, isJID := strings.Cut(text, "@")
	if !isJID {
		return fromNumber(text)
	}
	switch server {
	case "c.us", "s.whatsapp.net":
		user, _, _ = strings.Cut(user, ":")
		user, _, _ = strings.Cut(user, "_")
		return parse(strings.TrimPrefix(user, "+")+"@s.whatsapp.net", text)
	case "lid":
		user, _, _ = strings.Cut(user, ":")
		return parse(user+"@lid", text)
	}
	return parse(text, text)
}

func parse(jid, text string) (bridge.JID, error) {
	parsed, err := bridge.ParseJID(jid)
	if err != nil || !parsed.IsPerson() && !parsed.IsGroup() {
		return "", bridge.Invalid("%q is neither a phone number nor a chat's JID", bridge.Beginning(text, 100))
	}
	return parsed, nil
}

// Lengths from which on digits are a group's: phone numbers have at most 15 (E.164).
const (
	groupDigits = 18
	// groupDashed is that of an old group: its creator's number, a dash and a time.
	groupDashed = 20
)

func fromNumber(text string) (bridge.JID, error) {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("+-() ./\u00a0", r) {
			return -1
		}
		return r
	}, text)
	creator, created, isDashed := strings.Cut(text, "-")
	switch {
	case isDashed && len(text) >= groupDashed && isDigits(creator) && isDigits(created), isDigits(text) && len(text) >= groupDigits:
		return parse(text+"@g.us", text)
	case isDigits(digits):
		return parse(digits+"@s.whatsapp.net", text)
	}
	return parse(text, text)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// AsChat returns a JID as WAHA's clients know it, and those of whatsapp-web.js: a person
// by a number at c.us.
func AsChat(jid bridge.JID) string {
	if user, isPerson := strings.CutSuffix(string(jid), "@s.whatsapp.net"); isPerson {
		return user + "@c.us"
	}
	return string(jid)
}

// Text is a text that some clients send as a number.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	var n json.Number
	if len(data) > 0 && data[0] != '"' && data[0] != '{' && data[0] != '[' && json.Unmarshal(data, &n) == nil {
		*t = Text(n)
		return nil
	}
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if *t = ""; s != nil {
		*t = Text(*s)
	}
	return nil
}
