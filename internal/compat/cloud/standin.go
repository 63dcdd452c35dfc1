package cloud

import (
	"strings"

	"bridged/internal/bridge"
)

// A group that is shown as a contact has digits that stand for it: clients take ids for phone
// numbers, of which none has more than 15 digits. Ids of groups have 18, and begin alike. No
// country has the code that the digits begin with.
const (
	groupBegin   = "120363"
	standInBegin = "999"
	standInSize  = 15
)

// standIn returns the digits that stand for a group; empty for one of the old kind, whose id has
// a dash.
func standIn(group bridge.JID) string {
	rest, begins := strings.CutPrefix(group.User(), groupBegin)
	if digits := standInBegin + rest; begins && len(digits) == standInSize && isDigits(rest) {
		return digits
	}
	return ""
}

// groupOf returns the group that digits stand for; empty for none.
func groupOf(digits string) bridge.JID {
	digits = strings.TrimPrefix(digits, "+")
	rest, begins := strings.CutPrefix(digits, standInBegin)
	if !begins || len(digits) != standInSize || !isDigits(rest) {
		return ""
	}
	return bridge.JID(groupBegin + rest + "@" + bridge.ServerGroup)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// contactID returns the id of a recipient as the caller knows it.
func contactID(to string, chat bridge.JID) string {
	if groupOf(to) != "" {
		return standIn(chat)
	}
	return chat.User()
}
