package content

import (
	"encoding/json"
	"slices"
	"time"

	"bridged/internal/bridge"
)

// mutedForever is the mutedUntil of a chat that stays muted until it is unmuted.
const mutedForever = "forever"

// ChatChange changes the settings of a chat. Omitted fields do not change.
type ChatChange struct {
	Archived   *bool           `json:"archived"`
	Pinned     *bool           `json:"pinned"`
	MutedUntil json.RawMessage `json:"mutedUntil"` // null unmutes
	Unread     *bool           `json:"unread"`
	Expiration *uint32         `json:"disappearingSeconds"`
}

// Patch returns the change of a chat. It refuses one that contradicts itself.
func (c ChatChange) Patch(chat bridge.JID, now time.Time) (patch bridge.ChatPatch, err error) {
	patch = bridge.ChatPatch{Archived: c.Archived, Pinned: c.Pinned, Unread: c.Unread, Expiration: c.Expiration}
	if c.MutedUntil != nil {
		if patch.MutedUntil, err = parseMute(c.MutedUntil, now); err != nil {
			return patch, err
		}
	}
	switch {
	case patch == (bridge.ChatPatch{}):
		return patch, bridge.Invalid("give at least one of archived, pinned, mutedUntil, unread and disappearingSeconds")
	case patch.Archived != nil && *patch.Archived && patch.Pinned != nil && *patch.Pinned:
		return patch, bridge.Invalid("archived and pinned cannot both be true: archiving a chat unpins it")
	}
	return patch, checkTimer(chat, c.Expiration)
}

// checkTimer returns an error if a chat cannot have a timer of disappearing messages.
func checkTimer(chat bridge.JID, seconds *uint32) error {
	switch {
	case seconds == nil:
		return nil
	case !slices.Contains(disappearing, *seconds):
		return bridge.Invalid("disappearingSeconds must be 0, 86400, 604800 or 7776000: never, a day, a week or 90 days")
	case chat.IsGroup():
		return bridge.Invalid("the disappearingSeconds of a group are changed by PATCH /api/groups/{jid}")
	}
	return nil
}

// parseMute reads mutedUntil: a time in the future, forever, or null to unmute.
func parseMute(value json.RawMessage, now time.Time) (*bridge.Time, error) {
	var text *string
	if err := json.Unmarshal(value, &text); err == nil && text == nil {
		return new(bridge.Time{}), nil
	}
	if text != nil && *text == mutedForever {
		return new(bridge.MutedForever()), nil
	}
	if text != nil {
		if until, err := time.Parse(time.RFC3339, *text); err == nil && until.After(now) {
			return new(bridge.At(until)), nil
		}
	}
	return nil, bridge.Invalid("mutedUntil must be a time in the future, like 2027-01-31T00:00:00Z, or %q, or null to unmute", mutedForever)
}
