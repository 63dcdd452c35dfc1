package session

import (
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// tagDropped has no handler in whatsmeow (client.go, nodeHandlers).
const tagDropped = "dropped"

// drop renames a stanza on which whatsmeow would panic, so that whatsmeow ignores it: whatsmeow
// does not recover from panics in handlers. The only known such stanza is a pair-success without
// an id (pair.go, handlePairSuccess).
func drop(stanza *waBinary.Node) {
	if _, hasID := stanza.Attrs["id"].(string); stanza.Tag == "iq" && !hasID {
		stanza.Tag = tagDropped
	}
}

// amend changes a stanza that whatsmeow would misread: whatsmeow reads any state of membership
// approval as on (group.go). If it is off, it is removed from a group's description, and marked
// in a notification.
func amend(stanza *waBinary.Node) {
	children := stanza.GetChildren()
	for i := range children {
		child := &children[i]
		switch child.Tag {
		case "group":
			if parts := child.GetChildren(); slices.ContainsFunc(parts, isApprovalOff) {
				child.Content = slices.DeleteFunc(parts, isApprovalOff)
			}
		case "groups", "create":
			amend(child)
		case "membership_approval_mode":
			if isApprovalOff(*child) {
				child.Tag = convert.TagApprovalOff
			}
		}
	}
}

// isApprovalOff reports whether a group's node switches membership approval off.
func isApprovalOff(part waBinary.Node) bool {
	if part.Tag != "membership_approval_mode" {
		return false
	}
	mode, found := part.GetOptionalChildByTag("group_join")
	return found && mode.AttrGetter().OptionalString("state") == "off"
}

// usernameAttrs maps attributes that identify a person to the attributes with the person's
// username.
var usernameAttrs = map[string][]string{
	"from":        {"username"},
	"participant": {"participant_username"},
	"recipient":   {"peer_recipient_username", "recipient_username"},
	"jid":         {"participant_username", "username"},
	"creator":     {"creator_username"},
	"s_o":         {"s_o_username"},
}

// usernamesIn returns the usernames in a stanza, by the JID that the stanza uses for the person;
// the name is empty for a person without one. whatsmeow does not read usernames.
func usernamesIn(stanza *waBinary.Node) map[bridge.JID]string {
	switch stanza.Tag {
	case "message", "notification", "iq":
		return addUsernames(nil, stanza)
	}
	return nil
}

func addUsernames(found map[bridge.JID]string, node *waBinary.Node) map[bridge.JID]string {
	add := func(person any, name string) {
		if jid, _ := person.(types.JID); convert.IsPerson(jid) {
			if found == nil {
				found = make(map[bridge.JID]string)
			}
			found[convert.JID(jid)] = name
		}
	}
	for person, attributes := range usernameAttrs {
		jid, names := node.Attrs[person]
		if !names {
			continue
		}
		for _, attribute := range attributes {
			if name, has := node.Attrs[attribute].(string); has {
				add(jid, name)
				break
			}
		}
	}
	for _, child := range node.GetChildren() {
		if child.Tag == "username" && node.Tag == "user" {
			add(node.Attrs["jid"], contentText(&child))
			continue
		}
		found = addUsernames(found, &child)
	}
	return found
}

// contentText returns a node's text. The codec decodes it as a string if it looks like a token or
// a number.
func contentText(node *waBinary.Node) string {
	switch content := node.Content.(type) {
	case []byte:
		return string(content)
	case string:
		return content
	}
	return ""
}
