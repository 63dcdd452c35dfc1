package wa

import (
	"slices"

	"bridged/internal/wa/convert"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// amend changes a stanza that whatsmeow would misread: it takes the approval of those
// who come by the link for on whatever its state is (group.go). Where it is off, it is
// taken out of a group's description, and marked in a notification.
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

// isApprovalOff reports whether a part of a group says that nobody has to let in those
// who come by the link.
func isApprovalOff(part waBinary.Node) bool {
	if part.Tag != "membership_approval_mode" {
		return false
	}
	mode, found := part.GetOptionalChildByTag("group_join")
	return found && mode.AttrGetter().OptionalString("state") == "off"
}
