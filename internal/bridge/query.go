package bridge

// ChatType filters lists by the kind of chat.
type ChatType string

const (
	ChatsAll        ChatType = "all"
	ChatsGroup      ChatType = "group"
	ChatsIndividual ChatType = "individual"
)

// Order sorts a history by timestamp, then seq.
type Order string

const (
	OrderAsc  Order = "asc"
	OrderDesc Order = "desc"
)

// ChatQuery asks for a page of the list of chats. Q is a part of name or JID. Only, unless nil,
// names the chats that may be shown.
type ChatQuery struct {
	Only       []JID
	Type       ChatType
	Q          string
	Unread     *bool
	Unanswered *bool // whether the last message is somebody else's
	Archived   *bool
	Limit      int
	Offset     int
	Cursor     string
}

// MessageQuery asks for a page of one chat's history. Since and Until are inclusive. Offset
// counts from the Cursor, where an earlier page ended.
type MessageQuery struct {
	Only   []JID // the chats that the caller may see; nil is all
	Chat   JID
	Since  *Time
	Until  *Time
	Q      string
	Sender JID
	Order  Order
	Limit  int
	Offset int
	Cursor string
}

// SearchQuery asks for a page of the search in all chats, newest first, or in those of Only
// unless that is nil.
type SearchQuery struct {
	Only     []JID
	Q        string
	Since    *Time
	Until    *Time
	ChatType ChatType
	Limit    int
	Cursor   string
}

// Page holds a part of a list. NextCursor is nil when nothing follows.
type Page[T any] struct {
	Items      []T
	NextCursor *string
}
