package bridge

// EventTyping is the type of events of streams alone: the log, webhooks and NATS have none.
const EventTyping EventType = "chat.typing"

// Typing says what somebody else does in a chat.
type Typing struct {
	SenderJID JID         `json:"senderJid"`
	State     TypingState `json:"state"`
}

// TypingEvent is a [Typing] as streams send it. It has no number, since nothing of it is stored.
type TypingEvent struct {
	Type    EventType `json:"type"`
	At      Time      `json:"timestamp"`
	ChatJID JID       `json:"chatJid"`
	Typing  Typing    `json:"typing"`
}

// StreamTypes returns the types of events that streams have.
func StreamTypes() []EventType { return append(EventTypes(), EventTyping) }
