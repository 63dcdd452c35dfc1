package cloud

import (
	"strings"

	"bridged/internal/bridge"
)

// A group that is shown as a contact needs an id that clients accept as a phone number, which has at most
// 15 digits. Ids of groups have 18 digits and the same prefix. No country has the calling code 999.
const (
	groupPrefix   = "120363"
	contactPrefix = "999"
	contactDigits = 15
)

// groupContact returns a group's id as a contact, or "" for an old group, whose id has a dash.
func groupContact(group bridge.JID) string {
	rest, hasPrefix := strings.CutPrefix(group.User(), groupPrefix)
	if digits := contactPrefix + rest; hasPrefix && len(digits) == contactDigits && bridge.IsDigits(rest) {
		return digits
	}
	return ""
}

// ContactID returns the id under which clients of the API see a chat as a contact: the digits of a person's
// number, or of the LID if no number is known. It returns "" if the chat cannot be a contact.
func ContactID(chat bridge.JID) string {
	switch {
	case chat.IsGroup():
		return groupContact(chat)
	case chat.Server() != bridge.ServerUser && !chat.IsLID(), !bridge.IsDigits(chat.User()), len(chat.User()) > contactDigits:
		return ""
	}
	return chat.User()
}

// groupOf returns the group with an id as a contact, or "" if it is none.
func groupOf(digits string) bridge.JID {
	digits = strings.TrimPrefix(digits, "+")
	rest, hasPrefix := strings.CutPrefix(digits, contactPrefix)
	if !hasPrefix || len(digits) != contactDigits || !bridge.IsDigits(rest) {
		return ""
	}
	return bridge.JID(groupPrefix + rest + "@" + bridge.ServerGroup)
}

// contactID returns the id of a recipient in the form that the caller used.
func contactID(to string, chat bridge.JID) string {
	if groupOf(to) != "" {
		return groupContact(chat)
	}
	return chat.User()
}
