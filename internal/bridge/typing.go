package bridge

// EventTyping is a type of event that only streams have: the log, webhooks and NATS have none.
const EventTyping EventType = "chat.typing"

// Typing is another person's activity in a chat.
type Typing struct {
	SenderJID JID         `json:"senderJid"`
	State     TypingState `json:"state"`
}

// TypingEvent is a [Typing] in a stream. It has no number, because it is not stored.
type TypingEvent struct {
	Type    EventType `json:"type"`
	At      Time      `json:"timestamp"`
	ChatJID JID       `json:"chatJid"`
	Typing  Typing    `json:"typing"`
}

// StreamTypes returns the types of events that streams have.
func StreamTypes() []EventType { return append(EventTypes(), EventTyping) }
