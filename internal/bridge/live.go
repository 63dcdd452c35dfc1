package bridge

// These types of events only streams have: the log, webhooks and NATS have none of them.
const (
	EventTyping EventType = "chat.typing"
	EventImport EventType = "import.updated"
)

// StreamTypes returns the types of events that streams have.
func StreamTypes() []EventType { return append(EventTypes(), EventTyping, EventImport) }

// Typing is another person's activity in a chat.
type Typing struct {
	SenderJID JID         `json:"senderJid"`
	State     TypingState `json:"state"`
}

// ImportProgress says how far an import is.
type ImportProgress struct {
	ID         string      `json:"id"`
	State      ImportState `json:"state"`
	Total      int         `json:"total"`
	Imported   int         `json:"imported"`
	Duplicates int         `json:"duplicates"`
	Media      int         `json:"media"`
	Removed    int         `json:"removed"`
}

// Progress returns how far the import is.
func (i Import) Progress() ImportProgress {
	return ImportProgress{i.ID, i.State, i.Total, i.Imported, i.Duplicates, i.Media, i.Removed}
}

// LiveEvent is an event in a stream that is not stored, so it has no number. Depending on its type, Typing or
// Import is set.
type LiveEvent struct {
	Type    EventType       `json:"type"`
	At      Time            `json:"timestamp"`
	ChatJID JID             `json:"chatJid"`
	Typing  *Typing         `json:"typing,omitempty"`
	Import  *ImportProgress `json:"import,omitempty"`
}
