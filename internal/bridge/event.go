package bridge

// EventType names a kind of event in the log.
type EventType string

// The types of events.
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

// Event is one entry of the numbered log, rendered in today's shape: Message,
// Chat, Group, Call or Status is set by type.
type Event struct {
	ID      int64        `json:"id"`
	Type    EventType    `json:"type"`
	At      Time         `json:"timestamp"`
	ChatJID JID          `json:"chatJid"`
	Message *Message     `json:"message,omitempty"`
	Chat    *Chat        `json:"chat,omitempty"`
	Group   *StoredGroup `json:"group,omitempty"`
	// JoinRequests stands beside Group where somebody asks to be let in, or does so
	// no more.
	JoinRequests *JoinRequestChange `json:"joinRequests,omitempty"`
	Call         *Call              `json:"call,omitempty"`
	Status       *Status            `json:"status,omitempty"`
}
