package bridge

// LastMessage is the newest message of a chat, as the list of chats shows it.
type LastMessage struct {
	ID          string `json:"msgId"`
	FromMe      bool   `json:"fromMe"`
	SenderJID   JID    `json:"senderJid"`
	PushName    string `json:"pushName" bound:"name"`
	MessageType string `json:"messageType" bound:"name"`
	Content     string `json:"content" bound:"preview"`
	Timestamp   Time   `json:"timestamp"`
}

// MaxPreview is how many characters of its content a last message has.
const MaxPreview = 200

// ChatRead reports that the account read a chat on one of its devices: up to the last
// of the messages IDs, up to a Seq (of an [UnreadPage]), or, without both, up to a
// moment. With IDs or a Seq the senders have been sent read receipts.
type ChatRead struct {
	Chat  JID
	IDs   []string
	Seq   int64
	Until Time
}

// UnreadMessage is a message of another person, for which no read receipt was sent.
type UnreadMessage struct {
	ID        string
	WireID    string // as in [Message]
	SenderJID JID
	Seq       int64 // the order in which messages were stored
}

// UnreadPage is some of the unread messages of a chat. Once it is handled, the chat is
// read up to the seq UpTo; More reports that the page is full.
type UnreadPage struct {
	Messages []UnreadMessage
	UpTo     int64
	More     bool
}

// ChatMarkedUnread tells that somebody marked a chat as unread on one of the
// account's devices, to come back to it.
type ChatMarkedUnread struct{ Chat JID }

// ChatSettings is how the account's devices keep a chat; nil fields stay as
// they are. A MutedUntil that is not in the future is no muting.
type ChatSettings struct {
	Chat       JID
	Archived   *bool
	Pinned     *bool
	MutedUntil *Time
}

// GroupWithheld is a group of which the network says nothing: it is gone, or the
// account is not in it.
type GroupWithheld struct{ JID JID }

// MutedForever returns the MutedUntil of a chat that is muted without an end: the
// last moment that can be written.
func MutedForever() Time { return Time{last} }

func (ChatRead) fact()         {}
func (ChatMarkedUnread) fact() {}
func (ChatSettings) fact()     {}
func (GroupWithheld) fact()    {}
