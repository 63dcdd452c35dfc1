package compat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// Recipient parses a person or a group: a phone number in any spelling, or a JID. A JID may have the
// server c.us or a device. Digits that are too long for a phone number are a group.
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

// Recipients parses the people in a field. Errors name the field.
func Recipients(field string, texts []string) ([]bridge.JID, error) {
	var jids []bridge.JID
	for _, text := range texts {
		jid, err := Recipient(text)
		if err != nil {
			return nil, In(field, err)
		}
		jids = append(jids, jid)
	}
	return jids, nil
}

// Card returns a contact to send with the phone number of id, a JID or a number, or if id is empty with
// the one that it displays. Errors name the field.
func Card(field string, card bridge.ContactCard, id Text) (bridge.ContactCard, error) {
	given := cmp.Or(string(id), card.PhoneDisplay)
	if given == "" {
		return card, nil
	}
	person, err := Recipient(given)
	if err != nil || !person.IsPerson() {
		return card, bridge.Invalid("%s: %q is not a phone number", field, bridge.Beginning(given, 50))
	}
	card.Phone = person.User()
	return card, nil
}

const (
	// groupDigits is the shortest length of a group's id. Phone numbers have at most 15 digits (E.164).
	groupDigits = 18
	// groupDashed is the shortest length of an old group's id: its creator's number, a dash and a time.
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
	case isDashed && len(text) >= groupDashed && bridge.IsDigits(creator) && bridge.IsDigits(created), bridge.IsDigits(text) && len(text) >= groupDigits:
		return parse(text+"@g.us", text)
	case bridge.IsDigits(digits):
		return parse(digits+"@s.whatsapp.net", text)
	}
	return parse(text, text)
}

// AsChat returns a JID as WAHA and whatsapp-web.js write it: people have the server c.us.
func AsChat(jid bridge.JID) string {
	if user, isPerson := strings.CutSuffix(string(jid), "@s.whatsapp.net"); isPerson {
		return user + "@c.us"
	}
	return string(jid)
}

// IsFromDevice reports whether a linked device and not a phone sent an own message, by its id.
func IsFromDevice(m bridge.Message) bool { return m.FromMe && strings.HasPrefix(m.ID, "3EB0") }

// Text is a text. Some clients send a number.
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

// Number is a number. Some clients send a text; an empty one is 0.
type Number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	var text Text
	err := text.UnmarshalJSON(data)
	value := 0.0
	if err == nil && strings.TrimSpace(string(text)) != "" {
		value, err = strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%s is not a number", bridge.Beginning(string(text), 20))
	}
	*n = Number(value)
	return err
}

// Flag is true or false. Some clients send a text; an empty one is false.
type Flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *Flag) UnmarshalJSON(data []byte) error {
	switch text := strings.ToLower(strings.Trim(string(data), `"`)); text {
	case "true", "1":
		*f = true
	case "false", "0", "", "null":
		*f = false
	default:
		return fmt.Errorf("%s is neither true nor false", bridge.Beginning(text, 20))
	}
	return nil
}

// Texts is a list of texts. Some clients send one text separated by commas.
type Texts []string

// maxTexts limits the list, as the API limits every array.
const maxTexts = 1024

// UnmarshalJSON implements json.Unmarshaler.
func (l *Texts) UnmarshalJSON(data []byte) error {
	var items []Text
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if strings.Count(text, ",") >= maxTexts {
			return bridge.Invalid("a list in a text must hold at most %d elements", maxTexts)
		}
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, Text(item))
		}
	} else if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	*l = nil
	for _, item := range items {
		if item := strings.TrimSpace(string(item)); item != "" {
			*l = append(*l, item)
		}
	}
	return nil
}
