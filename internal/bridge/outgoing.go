package bridge

import "time"

// Outgoing is a message to be sent.
type Outgoing struct {
	To        JID
	Content   Content
	Quote     *Message // the stored message that is answered, with Chat and Raw
	Mentions  []JID
	Strangers []JID    // those of Mentions of whom the caller may know nothing: sent as given
	Key       *SendKey // nil without an Idempotency-Key
}

// Content is the content of an outgoing message.
type Content interface{ content() }

// Text is a text message.
type Text struct {
	Text       string
	MentionAll bool     // it mentions all other members of a group
	Preview    *Preview // of the page of an address in it; nil for none
}

// Preview shows a page, and a picture of it.
type Preview struct {
	LinkPreview
	Thumbnail []byte // JPEG; nil when there is none
}

// Location is a place; latitude and longitude in degrees.
type Location struct {
	Latitude  float64
	Longitude float64
	Name      string
	Address   string
}

// Poll is a new poll; Selectable 0 is any number of choices.
type Poll struct {
	Name       string
	Values     []string
	Selectable int
}

// Contacts holds one contact, or several.
type Contacts struct {
	Contacts []ContactCard `json:"contacts"`
}

// ContactCard describes a contact to be sent.
type ContactCard struct {
	DisplayName  string `json:"displayName"`
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	Phone        string `json:"phone"`
	PhoneDisplay string `json:"phoneDisplay"`
	Email        string `json:"email"`
	Organization string `json:"organization"`
	Title        string `json:"title"`
	VCard        string `json:"vcard"`
}

// File describes a prepared file, which lies at Path.
type File struct {
	Type      MediaType
	Path      string
	Size      int64
	MimeType  string
	FileName  string
	Caption   string
	PTT       bool
	Animated  bool // of a sticker
	Seconds   int
	Width     int
	Height    int
	Thumbnail []byte // JPEG; nil when there is none
	Waveform  []byte // 64 values of 0 to 100; voice notes only
}

// Reaction sets or, with an empty emoji, removes the account's reaction.
type Reaction struct {
	Target Message
	Emoji  string
}

// Forward sends a stored message on.
type Forward struct{ Source Message }

// TextEdit replaces the text or the caption of an own message, and whom it mentions.
type TextEdit struct {
	Target    Message
	Text      string
	Mentions  []JID
	Strangers []JID // as in [Outgoing]
}

// Revocation deletes a message for everybody: an own one, or as an admin another's.
type Revocation struct{ Target Message }

func (Text) content()       {}
func (Location) content()   {}
func (Poll) content()       {}
func (Contacts) content()   {}
func (File) content()       {}
func (Reaction) content()   {}
func (Forward) content()    {}
func (TextEdit) content()   {}
func (Revocation) content() {}

// Sent is a message that the network accepted.
type Sent struct {
	ID        string
	Chat      JID
	Timestamp Time
}

// TypingState names what somebody does in a chat.
type TypingState string

const (
	TypingText   TypingState = "typing"
	TypingVoice  TypingState = "recording"
	TypingPaused TypingState = "paused"
)

// TypingTime is how long others are shown that the account is typing.
const TypingTime = 25 * time.Second

// NewChats limits the chats that the account begins, in which nothing was ever sent or
// received: accounts are banned for first messages to many strangers.
type NewChats struct {
	PerDay int           // within 24 hours; 0 is any number
	MinGap time.Duration // between two of them
}

// IsLimited reports whether there is a limit.
func (n NewChats) IsLimited() bool { return n.PerDay > 0 || n.MinGap > 0 }

// NewChat counts the first message in a new chat, with which it is saved, or refuses it with
// [CodeNewChatsLimited].
type NewChat struct {
	Chat  JID
	Limit NewChats
}

func (NewChat) fact() {}
