package view

import (
	"net/url"
	"regexp"

	"bridged/internal/bridge"
)

// picturePath returns the address of the picture of a person or a group; empty for
// chats that have none.
func picturePath(jid bridge.JID) string {
	switch jid.Server() {
	case bridge.ServerUser, bridge.ServerLID, bridge.ServerGroup:
		return Root + "/pictures/" + jid.Escaped()
	}
	return ""
}

// NextPage returns the address of the page at a cursor; empty if none.
func NextPage(path string, query url.Values, parameter string, cursor *string) string {
	if cursor == nil {
		return ""
	}
	query.Set(parameter, *cursor)
	return path + "?" + query.Encode()
}

const Root = "/console"

// PersonPath returns the address of a contact.
func PersonPath(jid bridge.JID) string { return Root + "/people/" + jid.Escaped() }

// InfoPath returns the address of a group or a contact.
func InfoPath(jid bridge.JID) string {
	if jid.IsGroup() {
		return ChatPath(jid) + "/info"
	}
	return PersonPath(jid)
}

// Typed returns the values of a form's field as values of a type.
func Typed[T ~string](values []string) []T {
	list := make([]T, len(values))
	for i, value := range values {
		list[i] = T(value)
	}
	return list
}

// inviteCode matches the invite link of a group. Links in texts may have a query.
var inviteCode = regexp.MustCompile(`^(?:https?://)?chat\.whatsapp\.com/(?:invite/)?([0-9A-Za-z_-]{10,64})(?:\?.*)?$`)

// InvitePath returns the address of the page about the group of an invite link; empty for any other text.
func InvitePath(link string) string {
	if found := inviteCode.FindStringSubmatch(link); found != nil {
		return Root + "/invite/" + found[1]
	}
	return ""
}

// ChatPath returns the address of a chat.
func ChatPath(jid bridge.JID) string { return Root + "/chats/" + jid.Escaped() }

// chatPathIn returns the path of a chat next to a list with a filter, which query has; "" means none.
// Templates must not write a query by themselves: html/template escapes its equals sign.
func chatPathIn(jid bridge.JID, query string) string {
	if query == "" {
		return ChatPath(jid)
	}
	return ChatPath(jid) + "?" + query
}

// thumbPath returns the address of the thumbnail of a message.
func thumbPath(chat bridge.JID, id string) string {
	return Root + "/thumbnails/" + chat.Escaped() + "/" + bridge.PathID(id)
}

func mediaPath(chat bridge.JID, id string) string {
	return Root + "/media/" + chat.Escaped() + "/" + bridge.PathID(id)
}
