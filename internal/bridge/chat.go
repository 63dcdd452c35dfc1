package bridge

// Chat is a chat in the list of chats. UnreadCount and the fields after it have the values that
// the account's own devices show.
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
	Expiration    uint32       `json:"disappearingSeconds"` // of new messages; 0 is off
	Labels        []string     `json:"labels"`              // their ids
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

// Group is a group's metadata. As a [Fact] it replaces all stored metadata of the group.
type Group struct {
	JID           JID           `json:"jid"`
	Name          string        `json:"name" bound:"name"`
	Topic         string        `json:"topic" bound:"topic"`
	OwnerJID      JID           `json:"ownerJid"`
	CreatedAt     *Time         `json:"createdAt"`
	IsAnnounce    bool          `json:"isAnnounce"`
	IsLocked      bool          `json:"isLocked"`
	JoinApproval  bool          `json:"joinApproval"`  // who comes by the link waits for an admin
	MemberAddMode MemberAddMode `json:"memberAddMode"` // empty in a [Fact] means admins
	Participants  []Participant `json:"participants" bound:"members"`
	Expiration    uint32        `json:"disappearingSeconds"` // 0 is off
	IsCommunity   bool          `json:"-"`                   // holds groups together, and has no messages
	Joined        bool          `json:"-"`                   // the account has just become a member
	JoinedBy      JID           `json:"-"`                   // who added the account, or itself; empty for unknown
}

// MemberAddMode says who may add members to a group.
type MemberAddMode string

// The members who may add others.
const (
	AddedByAdmins   MemberAddMode = "admins"
	AddedByEveryone MemberAddMode = "everyone"
)

// StoredGroup is a group as the store has it.
type StoredGroup struct {
	Group
	MessageCount  int   `json:"messageCount"`
	LastMessageAt *Time `json:"lastMessageAt"`
	UpdatedAt     *Time `json:"updatedAt"`
	// PictureID changes with the picture. It is empty after a removal, and nil if no change was
	// received yet.
	PictureID *string `json:"pictureId"`
}

// LastMessage is the newest message of a chat in the list of chats.
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
	ViewOnce    bool      `json:"viewOnce"`

	Media *LastMedia `json:"media"` // nil for a message without a file, or that was deleted
}

// LastMedia says what the file of a last message is.
type LastMedia struct {
	Type     MediaType `json:"type"`
	FileName string    `json:"fileName,omitempty"`
	PTT      bool      `json:"ptt,omitempty"` // a voice note
	GIF      bool      `json:"gif,omitempty"`
}

// MaxPreview limits the content of a last message, in characters.
const MaxPreview = 200

// ChatRead reports that the account read a chat on one of its devices: up to the last of the
// messages IDs, up to a Seq (of an [UnreadPage]) or, without both, up to a time. IDs or a Seq
// mean that read receipts were sent.
type ChatRead struct {
	Chat  JID
	IDs   []string
	Seq   int64
	Until Time
	// Last lists the last messages until that time. Other messages of the same second were
	// received later and were not read.
	Last []string
}

// UnreadMessage is another person's message without a read receipt.
type UnreadMessage struct {
	ID        string
	WireID    string // as in [Message]
	SenderJID JID
	Seq       int64 // position in the order of storing
}

// UnreadPage is a part of the unread messages of a chat. After it was handled, the chat is read
// up to the seq UpTo. More means that the page is full.
type UnreadPage struct {
	Messages []UnreadMessage
	UpTo     int64
	More     bool
}

// ChatMarkedUnread reports that one of the account's devices marked a chat as unread.
type ChatMarkedUnread struct{ Chat JID }

// ChatSettings has a chat's settings on the account's devices. Nil fields stay unchanged.
type ChatSettings struct {
	Chat       JID
	Archived   *bool
	Pinned     *bool
	MutedUntil *Time // a time in the past unmutes
}

// ChatPatch changes a chat's settings on the account's devices. Nil fields stay unchanged.
type ChatPatch struct {
	Archived   *bool
	Pinned     *bool
	MutedUntil *Time   // the zero time unmutes
	Unread     *bool   // false sends no read receipts
	Expiration *uint32 // of new messages in a private chat, in seconds; 0 is off
}

// Fields returns the names of the fields that are set.
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
	if p.Expiration != nil {
		names = append(names, "disappearingSeconds")
	}
	return names
}

// ChatClearing removes the messages of a chat up to a time. Messages that are still being sent stay.
type ChatClearing struct {
	Chat        JID
	Until       Time
	KeepStarred bool
	Delete      bool // also removes the chat from the list, until it has a new message
}

// GroupWithheld means that a group does not exist any more, or that the account is not a member.
type GroupWithheld struct{ JID JID }

// MutedForever returns the MutedUntil of a chat that is muted forever.
func MutedForever() Time { return Time{last} }

func (ChatRead) fact()         {}
func (ChatMarkedUnread) fact() {}
func (ChatSettings) fact()     {}
func (GroupWithheld) fact()    {}
