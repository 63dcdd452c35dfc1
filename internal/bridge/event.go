package bridge

import (
	"fmt"
	"slices"
)

// EventType names a kind of event in the log.
type EventType string

const (
	EventMessageCreated EventType = "message.created"
	EventMessageUpdated EventType = "message.updated"
	EventMessageStatus  EventType = "message.status"
	EventChatUpdated    EventType = "chat.updated"
	EventGroupUpdated   EventType = "group.updated"
	EventCallCreated    EventType = "call.created"
	EventCallUpdated    EventType = "call.updated"
	EventAccountStatus  EventType = "account.status"
)

// EventTypes returns all types.
func EventTypes() []EventType {
	return []EventType{
		EventMessageCreated, EventMessageUpdated, EventMessageStatus,
		EventChatUpdated, EventGroupUpdated, EventCallCreated, EventCallUpdated, EventAccountStatus,
	}
}

// Event is an entry of the log. Message, Chat, Group, Call or Status is set by type.
type Event struct {
	ID      int64        `json:"id"`
	Type    EventType    `json:"type"`
	At      Time         `json:"timestamp"`
	ChatJID JID          `json:"chatJid"`
	Message *Message     `json:"message,omitempty"`
	Chat    *Chat        `json:"chat,omitempty"`
	Group   *StoredGroup `json:"group,omitempty"`
	// Changes names the fields of Message that changed, where Type is message.updated. An event
	// that an earlier version logged has none.
	Changes []MessageField `json:"changes,omitempty"`
	// GroupChanges says what changed in Group, under the name "changes"; nil if that is unknown.
	GroupChanges *GroupChanges `json:"-"`
	// Reactions are those that changed, with an empty emoji where one was removed; of very many
	// at once the last.
	Reactions []MessageReaction `json:"reactions,omitempty"`
	// Voters have voted in the poll, or taken their votes back; of very many at once the last.
	Voters []JID `json:"voters,omitempty"`
	// JoinRequests stands beside Group where requests to join came or were withdrawn.
	JoinRequests *JoinRequestChange `json:"joinRequests,omitempty"`
	Call         *Call              `json:"call,omitempty"`
	Status       *Status            `json:"status,omitempty"`
	// Typing is set in events of streams that are not in the log; see [EventTyping].
	Typing *Typing `json:"typing,omitempty"`
}

// MessageField names a field of [Message] that can change.
type MessageField string

// The fields that change. An edit changes content, whatever of the message it replaces; the type
// changes with a message that could be decrypted only now.
const (
	ChangedContent    MessageField = "content"
	ChangedTranscript MessageField = "transcript"
	ChangedType       MessageField = "messageType"
	ChangedReactions  MessageField = "reactions"
	ChangedPoll       MessageField = "poll"
	ChangedEvent      MessageField = "event"
	ChangedPinned     MessageField = "pinnedUntil"
	ChangedKept       MessageField = "kept"
	ChangedAlbum      MessageField = "album"
	ChangedAlbumID    MessageField = "albumId"
	ChangedEdited     MessageField = "editedAt"
	ChangedDeleted    MessageField = "deletedAt"
)

// EventFilter chooses events of the log; empty fields choose all. Events without a chat
// (the account's status, a call of an unknown group) are of no type of chat.
type EventFilter struct {
	Types        []EventType `json:"types"`
	Chats        []JID       `json:"chats"`
	ExcludeChats []JID       `json:"excludeChats"` // also where Chats has them
	ChatType     ChatType    `json:"chatType"`
	FromMe       *bool       `json:"fromMe"` // filters events of messages alone
}

// Wants reports whether an event passes the filter but for its lists of chats: only the
// store knows their other names.
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

// Payload returns the event as receivers get it.
func (e Event) Payload() EventPayload { return EventPayload{e.Type, e.At, e} }

// ResetPayload returns the payload that stands for lost events, those up to a number.
func ResetPayload(after int64, at Time) EventPayload {
	return EventPayload{EventReset, at, struct {
		After int64 `json:"after"`
	}{after}}
}

// EventName returns a name that no other event of the account ever has: its number alone
// comes again when a backup is restored.
func EventName(id int64, at Time) string { return fmt.Sprintf("evt_%d_%x", id, at.UnixMilli()) }
