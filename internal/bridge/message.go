package bridge

// TypeUndecryptable is the message type of a placeholder for a message that
// could not be decrypted; the real one takes its place when it comes.
const TypeUndecryptable = "undecryptable"

// Delivery is the status of an own message.
type Delivery string

// The statuses of own messages, in the order in which they may follow each
// other. Failed is only reached from pending; what proves that the message went
// out all the same (a receipt, a repeated send) moves it on from there.
const (
	DeliveryPending   Delivery = "pending"
	DeliverySent      Delivery = "sent"
	DeliveryDelivered Delivery = "delivered"
	DeliveryRead      Delivery = "read"
	DeliveryPlayed    Delivery = "played"
	DeliveryFailed    Delivery = "failed"
)

// Message is an element of message lists (the document's section 2.5) and,
// as a [Fact], a message received or about to be sent.
//
// As a fact, Chat and SenderJID may be in either form of a person's identity.
// SenderLID and SenderUsername are filled by the store when reading. Reactions, EditedAt,
// DeletedAt and the votes of Poll are the work of other facts; of a poll that
// was held elsewhere Poll has the result, without voters.
type Message struct {
	Chat           JID               `json:"-"`
	ID             string            `json:"msgId"`
	FromMe         bool              `json:"fromMe"`
	SenderJID      JID               `json:"senderJid"`
	SenderLID      JID               `json:"senderLid"`
	SenderUsername *string           `json:"senderUsername"` // nil where none is known
	PushName       string            `json:"pushName" bound:"name"`
	MessageType    string            `json:"messageType" bound:"name"`
	Content        string            `json:"content" bound:"content"`
	ContextInfo    *ContextInfo      `json:"contextInfo"`
	Quoted         *Quoted           `json:"quoted"` // filled by the store when reading
	Timestamp      Time              `json:"timestamp"`
	Media          *Media            `json:"media"`
	Poll           *PollTally        `json:"poll"`
	Reactions      []MessageReaction `json:"reactions"`
	EditedAt       *Time             `json:"editedAt"`
	DeletedAt      *Time             `json:"deletedAt"`
	Status         *Delivery         `json:"status"` // own messages only
	// Imported marks a message that was taken over from the phone's history.
	Imported bool `json:"imported"`
	Parts
	IsForwarded bool  `json:"isForwarded"`
	ExpiresAt   *Time `json:"expiresAt"` // filled by the store when reading, from Expiration
	// PinnedUntil and Kept are the work of other facts, [Pin] and [Keep].
	PinnedUntil *Time `json:"pinnedUntil"`
	Kept        bool  `json:"kept"`

	// Raw is the whole marshalled waE2E.Message as it came or left, wrappers
	// included: what quoting, forwarding, media and retries work from.
	Raw []byte `json:"-"`
	// WireID is the id by which the network knows the message, where that cannot
	// stand in a path and ID was made up for it; else it is empty.
	WireID string `json:"-"`
	// ViewOnce marks a message that may be looked at only once: it is never
	// forwarded.
	ViewOnce bool `json:"-"`
	// Expiration is the disappearing-messages timer in seconds that the
	// message carries, 0 when it does not disappear.
	Expiration uint32 `json:"-"`
}

// ContextInfo is what a message refers to. Mentions is filled by the store when
// reading, from MentionedJID and the content.
type ContextInfo struct {
	QuotedMsgID     *string   `json:"quotedMsgId"`
	QuotedSenderJID JID       `json:"quotedSenderJid"`
	MentionedJID    []JID     `json:"mentionedJid" bound:"mentions"`
	Mentions        []Mention `json:"mentions" bound:"mentions"`
	MentionsAll     bool      `json:"mentionsAll"`
}

// Quoted is the message that another one answers, if it is stored in the same chat.
type Quoted struct {
	FromMe      bool   `json:"fromMe"`
	SenderJID   JID    `json:"senderJid"`
	PushName    string `json:"pushName" bound:"name"`
	MessageType string `json:"messageType" bound:"name"`
	Content     string `json:"content" bound:"preview"`             // of at most [MaxPreview] characters
	FileName    string `json:"fileName,omitempty" bound:"fileName"` // of documents
	Timestamp   Time   `json:"timestamp"`
	DeletedAt   *Time  `json:"deletedAt"`
}

// Mention is one person whom a message mentions. Token is the word of the
// content that stands for them, such as "@15551234567"; nil where none does.
type Mention struct {
	JID   JID     `json:"jid"`
	LID   JID     `json:"lid"`
	Name  string  `json:"name"`
	Token *string `json:"token"`
}

// MessageReaction is one person's reaction on a message.
type MessageReaction struct {
	SenderJID JID    `json:"senderJid"`
	Emoji     string `json:"emoji"`
	Timestamp Time   `json:"timestamp"`
}

// PollTally is a poll with its votes.
type PollTally struct {
	Name            string       `json:"name" bound:"content"`
	Options         []PollOption `json:"options" bound:"options"`
	SelectableCount int          `json:"selectableCount"`
	// Extensible says that anybody in the chat may add options.
	Extensible bool `json:"-"`
}

// PollOption is one choice of a poll and who chose it. AddedBy is who added it
// later; empty for one that the poll was made with.
type PollOption struct {
	Name    string `json:"name" bound:"option"`
	Votes   int    `json:"votes" bound:"votes"`
	Voters  []JID  `json:"voters"`
	AddedBy JID    `json:"addedBy"`
}

// Match is an element of a search's matches (the document's section 2.7).
type Match struct {
	ChatJID        JID     `json:"chatJid"`
	ChatName       string  `json:"chatName"`
	MsgID          string  `json:"msgId"`
	FromMe         bool    `json:"fromMe"`
	SenderJID      JID     `json:"senderJid"`
	SenderLID      JID     `json:"senderLid"`
	SenderUsername *string `json:"senderUsername"`
	PushName       string  `json:"pushName"`
	IsGroup        bool    `json:"isGroup"`
	MessageType    string  `json:"messageType"`
	Content        string  `json:"content"`
	Timestamp      Time    `json:"timestamp"`
	Media          *Media  `json:"media"`
}
