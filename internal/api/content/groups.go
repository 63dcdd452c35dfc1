package content

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxGroupName  = 100  // characters, as in the apps
	maxGroupTopic = 2048 // characters
)

// disappearing lists the timers that the apps offer, in seconds.
var disappearing = []uint32{0, 86400, 604800, 7776000}

// CheckGroupName returns an error if a group cannot have a name.
func CheckGroupName(name string) error {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > maxGroupName {
		return bridge.Invalid("name must have 1 to %d characters", maxGroupName)
	}
	return nil
}

// CheckGroupPatch returns an error if a change of a group is invalid.
func CheckGroupPatch(patch bridge.GroupPatch) error {
	switch {
	case patch == (bridge.GroupPatch{}):
		return bridge.Invalid("give at least one of name, topic, isAnnounce, isLocked, joinApproval, memberAddMode and disappearingSeconds")
	case patch.Topic != nil && utf8.RuneCountInString(*patch.Topic) > maxGroupTopic:
		return bridge.Invalid("topic must have at most %d characters; an empty one removes it", maxGroupTopic)
	case checkTimer("", patch.Disappearing) != nil:
		return checkTimer("", patch.Disappearing)
	case patch.MemberAddMode != nil && !slices.Contains([]bridge.MemberAddMode{bridge.AddedByAdmins, bridge.AddedByEveryone}, *patch.MemberAddMode):
		return bridge.Invalid("memberAddMode must be admins or everyone: who may add members")
	case patch.Name != nil:
		return CheckGroupName(*patch.Name)
	}
	return nil
}
