package view

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// ContactName returns the name of a person; empty if only the number is known.
func ContactName(c bridge.KnownContact) string {
	return strings.TrimSpace(cmp.Or(c.Name, c.PushName, c.BusinessName, Deref(c.Username)))
}

// Deref returns a text; empty for nil.
func Deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// initial returns the first letter of a name; empty if it has no letter.
func initial(name string) string {
	if i := strings.IndexFunc(name, unicode.IsLetter); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return string(unicode.ToUpper(r))
	}
	return ""
}

// Hue returns the number of a person's colour. The style sheet has 8.
func Hue(jid bridge.JID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(jid))                 // never fails
	return int((h.Sum32() ^ h.Sum32()>>16) % 8) // the low bits alone differ too little
}

// Phone returns the number of a person, or other words for people without a number.
func Phone(jid bridge.JID) string {
	switch {
	case jid == "":
		return ""
	case jid.Server() == bridge.ServerUser:
		return "+" + grouped(jid.User())
	case jid.IsImport():
		return "Imported chat"
	case jid.IsInterop():
		return "On another messenger"
	case jid.IsLID():
		return "Hidden number …" + jid.User()[max(0, len(jid.User())-4):]
	}
	return string(jid)
}

// codes matches the country codes that do not have three digits.
var codes = regexp.MustCompile(`^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])`)

// grouped returns the digits of a phone number in groups: the country code, then three or four at a time.
func grouped(digits string) string {
	code := len(codes.FindString(digits))
	if code == 0 {
		code = min(3, len(digits))
	}
	text, rest := digits[:code], digits[code:]
	for len(rest) > 0 {
		group := 3
		if len(rest) <= 4 || len(rest) == 8 {
			group = min(4, len(rest))
		}
		text, rest = text+" "+rest[:group], rest[group:]
	}
	return text
}

// ChatName returns the name of a chat, or its number.
func ChatName(chat bridge.Chat) string {
	if chat.Name == chat.JID.User() { // the API uses the number as the name of an unnamed chat
		return Phone(chat.JID)
	}
	return cmp.Or(strings.TrimSpace(chat.Name), Phone(chat.JID))
}
