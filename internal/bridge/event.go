package bridge

import (
	"fmt"
	"slices"
)

// EventType is the type of an event in the log.
type EventType string

const (
	EventMessageCreated EventType = "message.created"
	EventMessageUpdated EventType = "message.updated"
	EventMessageStatus  EventType = "message.status"
	EventScheduled      EventType = "message.scheduled"
	EventChatUpdated    EventType = "chat.updated"
	EventGroupUpdated   EventType = "group.updated"
	EventLabelUpdated   EventType = "label.updated"
	EventCallCreated    EventType = "call.created"
	EventCallUpdated    EventType = "call.updated"
	EventAccountStatus  EventType = "account.status"
	EventBackupFailed   EventType = "backup.failed"
)

// EventTypes returns all types.
func EventTypes() []EventType {
	return []EventType{
		EventMessageCreated, EventMessageUpdated, EventMessageStatus, EventScheduled,
		EventChatUpdated, EventGroupUpdated, EventLabelUpdated, EventCallCreated, EventCallUpdated, EventAccountStatus, EventBackupFailed,
	}
}

// Event is an entry of the log. Depending on its type, Message, Chat, Group, Label, Call, Status, Backup
// or Scheduled is set.
type Event struct {
	ID      int64        `json:"id"`
	Type    EventType    `json:"type"`
	At      Time         `json:"timestamp"`
	ChatJID JID          `json:"chatJid"`
	Message *Message     `json:"message,omitempty"`
	Chat    *Chat        `json:"chat,omitempty"`
	Group   *StoredGroup `json:"group,omitempty"`
	Changes EventChanges `json:"changes,omitzero"`
	// Reactions are the changed reactions. A removed one has an empty emoji. If very many changed
	// at once, only the last ones are listed.
	Reactions []MessageReaction `json:"reactions,omitempty"`
	// Voters have voted in the poll or removed their votes. If very many did at once, only the
	// last ones are listed.
	Voters []JID `json:"voters,omitempty"`
	// JoinRequests is set together with Group if join requests were made or withdrawn.
	JoinRequests *JoinRequestChange `json:"joinRequests,omitempty"`
	Label        *LabelUpdate       `json:"label,omitempty"`
	Call         *Call              `json:"call,omitempty"`
	Status       *Status            `json:"status,omitempty"`
	Backup       *BackupFailure     `json:"backup,omitempty"`
	// Scheduled is set if a message was scheduled, changed, cancelled, or was not sent.
	Scheduled *ScheduledMessage `json:"scheduled,omitempty"`
	// Typing and Import are only set in events of streams, which are not in the log; see [LiveEvent].
	Typing *Typing         `json:"typing,omitempty"`
	Import *ImportProgress `json:"import,omitempty"`
}

// MessageField is the name of a field of [Message] that can change.
type MessageField string

// These fields can change. An edit changes content, whatever part of the message it replaces. The
// type changes if a message could only be decrypted later.
const (
	ChangedContent    MessageField = "content"
	ChangedTranscript MessageField = "transcript"
	ChangedType       MessageField = "messageType"
	ChangedReactions  MessageField = "reactions"
	ChangedPoll       MessageField = "poll"
	ChangedEvent      MessageField = "event"
	ChangedPinned     MessageField = "pinnedUntil"
	ChangedKept       MessageField = "kept"
	ChangedStarred    MessageField = "starred"
	ChangedLabels     MessageField = "labels"
	ChangedAlbum      MessageField = "album"
	ChangedAlbumID    MessageField = "albumId"
	ChangedEdited     MessageField = "editedAt"
	ChangedDeleted    MessageField = "deletedAt"
)

// EventFilter selects events of the log. Empty fields select all. Events without a chat (the
// account's status, a call of an unknown group) have no type of chat.
type EventFilter struct {
	Types        []EventType `json:"types"`
	Chats        []JID       `json:"chats"`
	ExcludeChats []JID       `json:"excludeChats"` // also where Chats has them
	ChatType     ChatType    `json:"chatType"`
	FromMe       *bool       `json:"fromMe"` // filters events of messages alone
}

// Wants reports whether an event passes the filter, except for its lists of chats: only the store
// knows the other JIDs of these chats.
func (f EventFilter) Wants(e Event) bool {
	isOfType := len(f.Types) == 0 || slices.Contains(f.Types, e.Type)
	return isOfType && f.wantsChat(e.ChatJID) && (f.FromMe == nil || e.Message == nil || e.Message.FromMe == *f.FromMe)
}

func (f EventFilter) wantsChat(chat JID) bool {
	switch f.ChatType {
	case ChatsGroup:
		return chat.IsGroup()
	case ChatsIndividual:
		return chat != "" && !chat.IsGroup()
	}
	return true
}

// NamesSameChats reports whether two filters have the same lists of chats.
func (f EventFilter) NamesSameChats(other EventFilter) bool {
	return slices.Equal(f.Chats, other.Chats) && slices.Equal(f.ExcludeChats, other.ExcludeChats)
}

// EventPayload is the body of a webhook, and of a message on NATS.
type EventPayload struct {
	Type      EventType `json:"type"`
	Timestamp Time      `json:"timestamp"`
	Data      any       `json:"data"`
}

// Payload returns the event in the form for receivers.
func (e Event) Payload() EventPayload { return EventPayload{e.Type, e.At, e} }

// ResetPayload returns the payload for lost events, up to a number.
func ResetPayload(after int64, at Time) EventPayload {
	return EventPayload{EventReset, at, struct {
		After int64 `json:"after"`
	}{after}}
}

// EventName returns a name that is unique among all events of the account. An event's number is
// not: it is reused after a backup is restored.
func EventName(id int64, at Time) string { return fmt.Sprintf("evt_%d_%x", id, at.UnixMilli()) }
