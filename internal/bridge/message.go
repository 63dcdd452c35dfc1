package bridge

// These are the types of messages that consist only of text.
const (
	TypeText         = "conversation"
	TypeExtendedText = "extendedTextMessage"
)

// TypeUnknown is the type of content that whatsmeow does not know, or that is not there.
const TypeUnknown = "unknown"

// TypeUndecryptable is the type of a placeholder. The message replaces it after it was decrypted.
const TypeUndecryptable = "undecryptable"

// Delivery is the status of an own message.
type Delivery string

// These are the statuses of own messages, in order. Failed is only reached from pending; a
// receipt or a repeated send changes it to a later status.
const (
	DeliveryPending   Delivery = "pending"
	DeliverySent      Delivery = "sent"
	DeliveryDelivered Delivery = "delivered"
	DeliveryRead      Delivery = "read"
	DeliveryPlayed    Delivery = "played"
	DeliveryFailed    Delivery = "failed"
)

// Message is an element of message lists and, as a [Fact], a message received or about to
// be sent. The store fills SenderLID, SenderUsername and ExpiresAt when reading. As a fact,
// Quoted is the copy in the stanza; when reading, the quoted message if it is stored.
// Reactions, EditedAt, DeletedAt, PinnedUntil, Kept, Starred, Labels and the votes of Poll come from
// other facts, Transcript from a service.
type Message struct {
	Chat           JID               `json:"-"`
	ID             string            `json:"msgId"`
	FromMe         bool              `json:"fromMe"`
	SenderJID      JID               `json:"senderJid"`
	SenderLID      JID               `json:"senderLid"`
	SenderUsername *string           `json:"senderUsername"` // nil if unknown
	PushName       string            `json:"pushName" bound:"name"`
	MessageType    string            `json:"messageType" bound:"name"`
	Content        string            `json:"content" bound:"content"`
	ContextInfo    *ContextInfo      `json:"contextInfo"`
	Quoted         *Quoted           `json:"quoted"`
	Timestamp      Time              `json:"timestamp"`
	Media          *Media            `json:"media"`
	Transcript     *Transcript       `json:"transcript"` // of Media
	Poll           *PollTally        `json:"poll"`
	Reactions      []MessageReaction `json:"reactions"`
	EditedAt       *Time             `json:"editedAt"`
	DeletedAt      *Time             `json:"deletedAt"`
	Status         *Delivery         `json:"status"`   // own messages only
	Imported       bool              `json:"imported"` // from the phone's history
	Parts
	IsForwarded bool  `json:"isForwarded"`
	ViewOnce    bool  `json:"viewOnce"` // the apps show its file once, on the phone
	ExpiresAt   *Time `json:"expiresAt"`
	PinnedUntil *Time `json:"pinnedUntil"`
	Kept        bool  `json:"kept"`
	Starred     bool  `json:"starred"`
	// Labels are the ids of the message's labels.
	Labels []string `json:"labels,omitempty"`

	// Raw holds the whole marshalled waE2E.Message, wrappers included, for quoting,
	// forwarding, media and retries.
	Raw []byte `json:"-"`
	// WireID is the network's id, if it cannot be used in a path and ID replaces it.
	WireID     string `json:"-"`
	Expiration uint32 `json:"-"` // the disappearing-messages timer in seconds; 0 if none
	// By is the caller that has sent an own message. It is only set when that is stored, and in a client's answer about
	// this message alone if the caller may see it.
	By *CalledBy `json:"-"`
}

// ContextInfo lists the messages and people that a message refers to.
type ContextInfo struct {
	QuotedMsgID     *string   `json:"quotedMsgId"`
	QuotedSenderJID JID       `json:"quotedSenderJid"`
	MentionedJID    []JID     `json:"mentionedJid" bound:"mentions"`
	Mentions        []Mention `json:"mentions" bound:"mentions"` // filled by the store when reading
	MentionsAll     bool      `json:"mentionsAll"`
}

// QuoteOrigin says where a [Quoted] was read.
type QuoteOrigin string

// The origins of a [Quoted]: the message itself, which is stored in the same chat, or the
// copy in the message that quotes it. A copy is the claim of that message's sender.
const (
	QuoteStored   QuoteOrigin = "stored"
	QuoteEmbedded QuoteOrigin = "embedded"
)

// Quoted describes the message that another one answers. Of an embedded one, FromMe is nil
// if it is unknown, Timestamp and DeletedAt are nil, and MessageType is [TypeUnknown]
// without a copy. ChatJID is empty for a chat that has no JID here, such as a channel.
type Quoted struct {
	MsgID       string      `json:"msgId"`
	ChatJID     JID         `json:"chatJid"`
	FromMe      *bool       `json:"fromMe"`
	SenderJID   JID         `json:"senderJid"`
	PushName    string      `json:"pushName" bound:"name"`
	MessageType string      `json:"messageType" bound:"name"`
	Content     string      `json:"content" bound:"preview"`             // of at most [MaxPreview] characters
	FileName    string      `json:"fileName,omitempty" bound:"fileName"` // of documents
	Timestamp   *Time       `json:"timestamp"`
	DeletedAt   *Time       `json:"deletedAt"`
	Origin      QuoteOrigin `json:"origin"`
}

// IsFromMe reports whether the account wrote the message, as far as is known; nil did not.
func (q *Quoted) IsFromMe() bool { return q != nil && q.FromMe != nil && *q.FromMe }

// IsClaim reports whether q is only what the sender of the quoting message says.
func (q *Quoted) IsClaim() bool { return q != nil && q.Origin == QuoteEmbedded }

// Mention is a person whom a message mentions.
type Mention struct {
	JID   JID     `json:"jid"`
	LID   JID     `json:"lid"`
	Name  string  `json:"name"`
	Token *string `json:"token"` // the word for them in the content, such as "@15551234567"
}

// MessageReaction is one person's reaction to a message.
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
	Extensible      bool         `json:"-"` // anybody in the chat may add options
}

// PollOption is an option of a poll and the people who chose it.
type PollOption struct {
	Name    string `json:"name" bound:"option"`
	Votes   int    `json:"votes" bound:"votes"`
	Voters  []JID  `json:"voters"`
	AddedBy JID    `json:"addedBy"` // empty for one that the poll was made with
}

// Match is a message that a search found.
type Match struct {
	ChatJID        JID         `json:"chatJid"`
	ChatName       string      `json:"chatName"`
	MsgID          string      `json:"msgId"`
	FromMe         bool        `json:"fromMe"`
	SenderJID      JID         `json:"senderJid"`
	SenderLID      JID         `json:"senderLid"`
	SenderUsername *string     `json:"senderUsername"`
	PushName       string      `json:"pushName"`
	IsGroup        bool        `json:"isGroup"`
	MessageType    string      `json:"messageType"`
	Content        string      `json:"content"`
	Timestamp      Time        `json:"timestamp"`
	Media          *Media      `json:"media"`
	Transcript     *Transcript `json:"transcript"`
}

// EventAnswer is a person's answer to an event.
type EventAnswer int

// These are the answers, with the network's numbers, which are stored. Any other number withdraws
// an earlier answer.
const (
	EventGoing    EventAnswer = 1
	EventNotGoing EventAnswer = 2
	EventMaybe    EventAnswer = 3
)

// EventResponse replaces a person's answer to an event.
type EventResponse struct {
	Chat      JID
	Target    string // id of the event's message
	Sender    JID
	Answer    EventAnswer
	Guests    int `bound:"guests"` // how many more people come along
	Timestamp Time
}

// PollOptionAdded adds an option to a poll. People other than the author may only do that if the
// poll is extensible.
type PollOptionAdded struct {
	Chat      JID
	Target    string // id of the poll's message
	By        JID
	Name      string `bound:"option"`
	Timestamp Time
}

// Pin pins a message until a time, or unpins it if the time is zero. The store ignores pins by
// people outside of the chat and, in a locked group, by anybody but admins.
type Pin struct {
	Chat      JID
	Target    string
	By        JID
	Until     Time
	Timestamp Time
}

// Keep retains a disappearing message in its chat, or ends that. The permissions are those of a
// [Pin], and the author may always do it. If the author ends it, that is final.
type Keep struct {
	Chat      JID
	Target    string
	By        JID
	Kept      bool
	Timestamp Time
}

// Star reports that one of the account's devices starred a message, or removed the star. The last
// one counts. If By, the account, is empty, a star of a message that is not stored is ignored.
type Star struct {
	Chat      JID
	Target    string
	By        JID
	Starred   bool
	Timestamp Time
}

func (EventResponse) fact()   {}
func (PollOptionAdded) fact() {}
func (Pin) fact()             {}
func (Keep) fact()            {}
func (Star) fact()            {}
