package bridge

import "slices"

// EventFilter chooses events of the log; what is left empty chooses all. What
// belongs to no chat (the account's status, a call of an unknown group) is of
// no chat and of no type of chat.
type EventFilter struct {
	Types []EventType `json:"types"`
	// Chats are the only ones that are told of, ExcludeChats those that are not,
	// also where they are among Chats.
	Chats        []JID    `json:"chats"`
	ExcludeChats []JID    `json:"excludeChats"`
	ChatType     ChatType `json:"chatType"`
	// FromMe chooses the account's own messages, or those of others; nil is both.
	// It concerns events of messages alone.
	FromMe *bool `json:"fromMe"`
}

// Wants reports whether an event passes all of the filter but its lists of
// chats, for which one must know what other names they have.
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
