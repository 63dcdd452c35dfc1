package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// Outgoing is a message to send.
type Outgoing struct {
	To       JID
	Content  Content
	Quote    *Message // the stored message that is quoted, with Chat and Raw
	Mentions []JID
	Unseen   []JID    // the people in Mentions whom the caller may not see; their JIDs are sent as the caller wrote them
	Key      *SendKey // nil without an Idempotency-Key
	ID       string   // of a message that was scheduled; empty for a new one
	By       *CalledBy
}

// Content is the content of an outgoing message.
type Content interface{ content() }

// Text is a text message.
type Text struct {
	Text       string
	MentionAll bool     // mentions all other members of a group
	Preview    *Preview // of a URL in the text; nil if none
}

// Preview is the preview of a page, with a picture.
type Preview struct {
	LinkPreview
	Thumbnail []byte // JPEG, or nil
}

// Location is a location, in degrees.
type Location struct {
	Latitude  float64
	Longitude float64
	Name      string
	Address   string
}

// Poll is a new poll. Selectable 0 means any number of choices.
type Poll struct {
	Name       string
	Values     []string
	Selectable int
}

// Contacts is one contact or several.
type Contacts struct {
	Contacts []ContactCard `json:"contacts"`
}

// ContactCard is a contact to send.
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

// File is a prepared file. Path is its location on disk.
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
	Thumbnail []byte // JPEG, or nil
	Waveform  []byte // 64 values of 0 to 100; voice notes only
	GIF       bool   `json:",omitempty"` // a video that the apps repeat without its sound
	ViewOnce  bool   `json:",omitempty"` // the apps show it once; images, videos and voice notes only
}

// The numbers of pictures and videos in an album to send, and the time within which it is sent.
const (
	MinAlbum     = 2
	MaxAlbum     = 30
	AlbumTimeout = time.Hour
)

// AlbumFiles are the prepared pictures and videos of an album that is sent later.
type AlbumFiles []File

// OutgoingAlbum is an album to send. Each of its items is a message of its own.
type OutgoingAlbum struct {
	To    JID
	Quote *Message // as in [Outgoing]
	Key   *SendKey // as in [Outgoing]; of the whole album
	ID    string   // as in [Outgoing]; of the message that announces the album
	Items []AlbumItem
	By    *CalledBy
}

// AlbumItem prepares a picture or a video of an album. cleanup, which is never nil, removes its file.
type AlbumItem func(ctx context.Context) (file File, cleanup func(), err error)

// SentAlbum is an album that the network accepted. Sent is the message that announces it.
type SentAlbum struct {
	Sent
	Items []Sent
}

// Rest adds to an error how the rest of the album is sent, if a part of it was sent.
func (a SentAlbum) Rest(err error, how string) error {
	known, ok := errors.AsType[*Error](err)
	if a.ID == "" || !ok {
		return err
	}
	explained := *known
	explained.Msg += "; " + how
	return explained.Because(err)
}

// Reaction sets the account's reaction, or removes it if the emoji is empty.
type Reaction struct {
	Target Message
	Emoji  string
}

// Forward forwards a stored message.
type Forward struct{ Source Message }

// TextEdit replaces the text or the caption of an own message, and its mentions.
type TextEdit struct {
	Target   Message
	Text     string
	Mentions []JID
	Unseen   []JID // as in [Outgoing]
}

// Revocation deletes a message for everybody: an own one or, if the account is an admin, another
// person's.
type Revocation struct{ Target Message }

// MessagePin pins a message for everybody in its chat. A Length of zero unpins it.
type MessagePin struct {
	Target Message
	Length time.Duration
}

// TimerChange sets the disappearing-messages timer of a private chat, in seconds; 0 is off.
type TimerChange struct{ Seconds uint32 }

// Vote replaces the account's choice in a poll. Without Options it withdraws the choice.
type Vote struct {
	Target  Message
	Options []string // names
}

func (Text) content()        {}
func (Location) content()    {}
func (Poll) content()        {}
func (Contacts) content()    {}
func (File) content()        {}
func (AlbumFiles) content()  {}
func (Reaction) content()    {}
func (Forward) content()     {}
func (TextEdit) content()    {}
func (Revocation) content()  {}
func (MessagePin) content()  {}
func (Vote) content()        {}
func (TimerChange) content() {}

// NewMessageID returns a random id in the form of message ids.
func NewMessageID() string {
	var random [9]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("3EB0%X", random)
}

// Sent is a message that the network accepted.
type Sent struct {
	ID        string
	Chat      JID
	Timestamp Time
}

// TypingState is a person's activity in a chat.
type TypingState string

const (
	TypingText   TypingState = "typing"
	TypingVoice  TypingState = "recording"
	TypingPaused TypingState = "paused"
)

// TypingTime is how long others see that the account is typing.
const TypingTime = 25 * time.Second

// NewChats limits the new chats that the account starts, because accounts are banned for first
// messages to many strangers. A chat is new if no message was ever sent or received in it.
type NewChats struct {
	PerDay int           // within 24 hours; 0 for any number
	MinGap time.Duration // shortest pause between two new chats
}

// IsLimited reports whether there is a limit.
func (n NewChats) IsLimited() bool { return n.PerDay > 0 || n.MinGap > 0 }

// NewChat counts the first message in a new chat, which is saved together with it, or refuses the
// message with [CodeNewChatsLimited].
type NewChat struct {
	Chat  JID
	Limit NewChats
}

func (NewChat) fact() {}
