package bridge

// Chat is a chat summary (the document's section 2.3). LID stands beside the
// phone JID where it is known. Username is that of the person with whom the chat
// is; nil for groups. UnreadCount and what follows it are as the
// account's own devices show the chat.
type Chat struct {
	JID           JID          `json:"jid"`
	LID           JID          `json:"lid"`
	Username      *string      `json:"username"`
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

// Group is a group's metadata: the "live" object of the group detail. As a
// [Fact] it replaces everything that was stored of the group.
type Group struct {
	JID          JID           `json:"jid"`
	Name         string        `json:"name" bound:"name"`
	Topic        string        `json:"topic" bound:"topic"`
	OwnerJID     JID           `json:"ownerJid"`
	CreatedAt    *Time         `json:"createdAt"`
	IsAnnounce   bool          `json:"isAnnounce"`
	IsLocked     bool          `json:"isLocked"`
	JoinApproval bool          `json:"joinApproval"` // an admin lets in whoever comes by the link
	Participants []Participant `json:"participants" bound:"members"`

	// Expiration is the disappearing-messages timer in seconds, 0 when off.
	Expiration uint32 `json:"disappearingSeconds"`
}

// StoredGroup is the "stored" object of the group detail.
type StoredGroup struct {
	Group
	MessageCount  int   `json:"messageCount"`
	LastMessageAt *Time `json:"lastMessageAt"`
	UpdatedAt     *Time `json:"updatedAt"`
}
