package columns

import (
	"slices"

	"bridged/internal/bridge"
)

// EventTypes lists the types of events by their numbers in the table events. The numbers are
// stored: they never change their meaning.
var EventTypes = [...]bridge.EventType{
	1:  bridge.EventMessageCreated,
	2:  bridge.EventMessageUpdated,
	3:  bridge.EventMessageStatus,
	4:  bridge.EventChatUpdated,
	5:  bridge.EventGroupUpdated,
	6:  bridge.EventAccountStatus,
	7:  bridge.EventCallCreated,
	8:  bridge.EventCallUpdated,
	9:  bridge.EventBackupFailed,
	10: bridge.EventScheduled,
	11: bridge.EventLabelUpdated,
}

func EventNumber(name bridge.EventType) int { return slices.Index(EventTypes[:], name) }

// MessageChange is the data of the event of a message that has changed.
type MessageChange struct {
	Changes   []bridge.MessageField `json:"changes"`
	Reactions []ReactionChange      `json:"reactions,omitempty"`
	Voters    []int64               `json:"voters,omitempty"` // people
}

// ReactionChange is a reaction that was set, or without an emoji removed.
type ReactionChange struct {
	Sender    int64  `json:"sender"` // a person
	Emoji     string `json:"emoji"`
	Timestamp int64  `json:"timestamp"` // in milliseconds
}

// maxNamed bounds the reactions, and the voters, that one event names.
const maxNamed = 100

func (m *MessageChange) Add(other MessageChange) {
	for _, field := range other.Changes {
		if !slices.Contains(m.Changes, field) {
			m.Changes = append(m.Changes, field)
		}
	}
	m.Reactions = lastOf(append(m.Reactions, other.Reactions...))
	m.Voters = lastOf(append(m.Voters, other.Voters...))
}

func lastOf[T any](named []T) []T { return named[max(len(named)-maxNamed, 0):] }

// NoMessage is the data of the event of a placeholder whose row was removed.
type NoMessage struct {
	MessageChange
	ID        string `json:"id"`
	Sender    int64  `json:"sender"` // a person
	FromMe    bool   `json:"fromMe"`
	Timestamp int64  `json:"timestamp"` // in milliseconds, as RemovedAt
	RemovedAt int64  `json:"removedAt"`
}

// GroupData is the data of an event of a group: requests to be let in, and what changed, with
// JIDs as the network gave them.
type GroupData struct {
	Created []bridge.JID         `json:"created,omitempty"`
	Revoked []bridge.JID         `json:"revoked,omitempty"`
	Changes *bridge.GroupChanges `json:"changes,omitempty"`
}

// ScheduledChange is the data of the event of a scheduled message.
type ScheduledChange struct {
	ID        string                 `json:"id"`
	Chat      bridge.JID             `json:"chat"`
	Status    bridge.ScheduledStatus `json:"status"`
	Type      bridge.ScheduledType   `json:"type"`
	SendAt    bridge.Time            `json:"sendAt"`
	CreatedAt bridge.Time            `json:"createdAt"`
}
