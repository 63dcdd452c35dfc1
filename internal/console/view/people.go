package view

import (
	"cmp"
	"hash/fnv"
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
		return "+" + jid.User()
	case jid.IsImport():
		return "Imported chat"
	case jid.IsInterop():
		return "On another messenger"
	case jid.IsLID():
		return "hidden number " + jid.User()
	}
	return string(jid)
}

// ChatName returns the name of a chat, or its number.
func ChatName(chat bridge.Chat) string {
	if chat.Name == chat.JID.User() { // the API uses the number as the name of an unnamed chat
		return Phone(chat.JID)
	}
	return cmp.Or(strings.TrimSpace(chat.Name), Phone(chat.JID))
}
