package bridge

// Chat describes a chat as the list of chats shows it. UnreadCount and the fields behind it are as
// the account's own devices show the chat.
type Chat struct {
	JID           JID          `json:"jid"`
	LID           JID          `json:"lid"`
	Username      *string      `json:"username"` // nil for groups
	IsGroup       bool         `json:"isGroup"`
	Name          string       `json:"name"`
	LastMessageAt *Time        `json:"lastMessageAt"`
	LastMessage   *LastMessage `json:"lastMessage"`
	Participants  int          `json:"participants"`
	UnreadCount   int          `json:"unreadCount"`
	Archived      bool         `json:"archived"`
	Pinned        bool         `json:"pinned"`
	MutedUntil    *Time        `json:"mutedUntil"`
}

// Participant is a member of a group.
type Participant struct {
	JID          JID     `json:"jid"`
	LID          JID     `json:"lid"`
	Username     *string `json:"username"` // filled by the store when reading
	DisplayName  string  `json:"displayName" bound:"name"`
	IsAdmin      bool    `json:"isAdmin"`
	IsSuperAdmin bool    `json:"isSuperAdmin"`
	Label        string  `json:"label"` // how they describe themselves in the group
}

// Group holds a group's metadata. As a [Fact] it replaces all that was stored of the group.
type Group struct {
	JID          JID           `json:"jid"`
	Name         string        `json:"name" bound:"name"`
	Topic        string        `json:"topic" bound:"topic"`
	OwnerJID     JID           `json:"ownerJid"`
	CreatedAt    *Time         `json:"createdAt"`
	IsAnnounce   bool          `json:"isAnnounce"`
	IsLocked     bool          `json:"isLocked"`
	JoinApproval bool          `json:"joinApproval"` // who comes by the link waits for an admin
	Participants []Participant `json:"participants" bound:"members"`
	Expiration   uint32        `json:"disappearingSeconds"` // 0 is off
	IsCommunity  bool          `json:"-"`                   // holds groups together, and has no messages
	Joined       bool          `json:"-"`                   // the account has just become a member
	JoinedBy     JID           `json:"-"`                   // who added the account, or itself; empty for unknown
}

// StoredGroup holds what the store has of a group.
type StoredGroup struct {
	Group
	MessageCount  int   `json:"messageCount"`
	LastMessageAt *Time `json:"lastMessageAt"`
	UpdatedAt     *Time `json:"updatedAt"`
	// PictureID changes with the picture. It is empty after a removal, and nil where no change was seen.
	PictureID *string `json:"pictureId"`
}

// LastMessage describes the newest message of a chat, as the list of chats shows it.
type LastMessage struct {
	ID          string    `json:"msgId"`
	FromMe      bool      `json:"fromMe"`
	SenderJID   JID       `json:"senderJid"`
	PushName    string    `json:"pushName" bound:"name"`
	MessageType string    `json:"messageType" bound:"name"`
	Content     string    `json:"content" bound:"preview"`
	Timestamp   Time      `json:"timestamp"`
	DeletedAt   *Time     `json:"deletedAt"`
	Status      *Delivery `json:"status"` // nil for other people's messages
}

// MaxPreview limits the content of a last message, in characters.
const MaxPreview = 200

// ChatRead reports that the account read a chat on one of its devices: up to the last
// of the messages IDs, up to a Seq (of an [UnreadPage]), or, without both, up to a
// moment. With IDs or a Seq the senders have been sent read receipts.
type ChatRead struct {
	Chat  JID
	IDs   []string
	Seq   int64
	Until Time
	// Last names the last messages until that moment, whose second others may share that came
	// since: these were not read.
	Last []string
}

// UnreadMessage is a message of another person, for which no read receipt was sent.
type UnreadMessage struct {
	ID        string
	WireID    string // as in [Message]
	SenderJID JID
	Seq       int64 // the order in which messages were stored
}

// UnreadPage holds some of the unread messages of a chat. Once it is handled, the chat is
// read up to the seq UpTo; More reports that the page is full.
type UnreadPage struct {
	Messages []UnreadMessage
	UpTo     int64
	More     bool
}

// ChatMarkedUnread reports that one of the account's devices marked a chat as unread.
type ChatMarkedUnread struct{ Chat JID }

// ChatSettings says how the account's devices keep a chat; nil fields stay as they are.
type ChatSettings struct {
	Chat       JID
	Archived   *bool
	Pinned     *bool
	MutedUntil *Time // one in the past unmutes
}

// ChatPatch changes how the account's devices keep a chat; nil fields stay as they are.
type ChatPatch struct {
	Archived   *bool
	Pinned     *bool
	MutedUntil *Time // the zero time unmutes
	Unread     *bool // false sends no read receipts
}

// Fields returns the names of the fields that a change names.
func (p ChatPatch) Fields() (names []string) {
	if p.Archived != nil {
		names = append(names, "archived")
	}
	if p.Pinned != nil {
		names = append(names, "pinned")
	}
	if p.MutedUntil != nil {
		names = append(names, "mutedUntil")
	}
	if p.Unread != nil {
		names = append(names, "unread")
	}
	return names
}

// GroupWithheld names a group that is gone, or that the account is not in.
type GroupWithheld struct{ JID JID }

// MutedForever returns the MutedUntil of a chat that is muted without an end.
func MutedForever() Time { return Time{last} }

func (ChatRead) fact()         {}
func (ChatMarkedUnread) fact() {}
func (ChatSettings) fact()     {}
func (GroupWithheld) fact()    {}
