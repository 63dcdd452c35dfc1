package bridge

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// ScheduledStatus is the status of a message that is sent later.
type ScheduledStatus string

// A message is waiting until its time, then it is being sent, and then it is no longer scheduled.
// Missed, held and failed ones are sent only if a caller asks for it.
const (
	ScheduledWaiting   ScheduledStatus = "scheduled"
	ScheduledSending   ScheduledStatus = "sending"
	ScheduledMissed    ScheduledStatus = "missed"    // it could not be sent within the grace period
	ScheduledHeld      ScheduledStatus = "held"      // the store was restored from a backup
	ScheduledFailed    ScheduledStatus = "failed"    // it was refused
	ScheduledCancelled ScheduledStatus = "cancelled" // in events only
)

// ScheduledType is the kind of content of a scheduled message.
type ScheduledType string

// The types of scheduled messages without files.
const (
	ScheduledTypeText     ScheduledType = "text"
	ScheduledTypeLocation ScheduledType = "location"
	ScheduledTypePoll     ScheduledType = "poll"
	ScheduledTypeContacts ScheduledType = "contact"
	ScheduledTypeForward  ScheduledType = "forward"
	ScheduledTypeAlbum    ScheduledType = "album"
)

// ScheduleAhead is how far ahead a message can be scheduled.
const ScheduleAhead = 366 * 24 * time.Hour

// MessageRef names a stored message.
type MessageRef struct {
	Chat JID    `json:"chatJid"`
	ID   string `json:"msgId"`
}

// Scheduled is a message that is sent later, under its ID.
type Scheduled struct {
	ID        string
	Chat      JID
	Status    ScheduledStatus
	SendAt    Time
	CreatedAt Time
	Begun     bool // it may have been sent
	Error     *ScheduledError
	Draft     ScheduledDraft
	Token     int64 // the token that created the message or changed it last
	Tree      int64 // the token tree of that token
}

// ScheduledError says why a scheduled message was not sent.
type ScheduledError struct {
	Code  Code   `json:"code"`
	Error string `json:"error"`
}

// The codes of [ScheduledError] that no call answers with. The second one is also in package storefile.
const (
	CodeMissed   Code = "missed"
	CodeRestored Code = "restored"
)

// ScheduledDraft is the content of a scheduled message: one of the first seven fields is set. It is stored
// as JSON, so the names of its fields must not change.
type ScheduledDraft struct {
	Text     *Text       `json:",omitempty"`
	Location *Location   `json:",omitempty"`
	Poll     *Poll       `json:",omitempty"`
	Contacts *Contacts   `json:",omitempty"`
	File     *File       `json:",omitempty"` // its Path is set when it is sent
	Forward  *MessageRef `json:",omitempty"`
	Album    AlbumFiles  `json:",omitempty"` // as File

	Quote    *MessageRef `json:",omitempty"`
	Mentions []JID       `json:",omitempty"`
	Unseen   []JID       `json:",omitempty"` // as in [Outgoing]
	Preview  bool        `json:",omitempty"` // of a link in the text, made when it is sent
}

// DraftOf returns the draft of an outgoing message.
func DraftOf(out Outgoing) ScheduledDraft {
	d := ScheduledDraft{Mentions: out.Mentions, Unseen: out.Unseen}
	switch content := out.Content.(type) {
	case Text:
		d.Text = &content
	case Location:
		d.Location = &content
	case Poll:
		d.Poll = &content
	case Contacts:
		d.Contacts = &content
	case File:
		d.File = &content
	case AlbumFiles:
		d.Album = slices.Clone(content)
	case Forward:
		d.Forward = &MessageRef{content.Source.Chat, content.Source.ID}
	}
	if out.Quote != nil {
		d.Quote = &MessageRef{out.Quote.Chat, out.Quote.ID}
	}
	return d
}

// Content returns the content of the message; nil for a forwarded one, whose source must be read.
func (d ScheduledDraft) Content() Content {
	switch {
	case d.Text != nil:
		return *d.Text
	case d.Location != nil:
		return *d.Location
	case d.Poll != nil:
		return *d.Poll
	case d.Contacts != nil:
		return *d.Contacts
	case d.File != nil:
		return *d.File
	case d.Album != nil:
		return slices.Clone(d.Album)
	}
	return nil
}

// Files returns the files of the message, which can be changed.
func (d ScheduledDraft) Files() (files []*File) {
	if d.File != nil {
		return []*File{d.File}
	}
	for i := range d.Album {
		files = append(files, &d.Album[i])
	}
	return files
}

// Type returns the kind of content.
func (d ScheduledDraft) Type() ScheduledType {
	switch {
	case d.Location != nil:
		return ScheduledTypeLocation
	case d.Poll != nil:
		return ScheduledTypePoll
	case d.Contacts != nil:
		return ScheduledTypeContacts
	case d.File != nil:
		return ScheduledType(d.File.Type)
	case d.Album != nil:
		return ScheduledTypeAlbum
	case d.Forward != nil:
		return ScheduledTypeForward
	}
	return ScheduledTypeText
}

// Words returns the text of the message, as [Message] shows it. It is empty for a forwarded message: the
// source is named instead, so that its deletion leaves no copy.
func (d ScheduledDraft) Words() string {
	switch {
	case d.Text != nil:
		return d.Text.Text
	case d.Location != nil:
		if named := strings.TrimPrefix(strings.TrimSuffix(d.Location.Name+", "+d.Location.Address, ", "), ", "); named != "" {
			return named
		}
		return degrees(d.Location.Latitude) + "," + degrees(d.Location.Longitude)
	case d.Poll != nil:
		return d.Poll.Name
	case d.Contacts != nil:
		var names []string
		for _, contact := range d.Contacts.Contacts {
			names = append(names, contact.DisplayName)
		}
		return strings.Join(names, ", ")
	case d.File != nil:
		return d.File.Caption
	case d.Album != nil:
		return d.Album[0].Caption
	}
	return ""
}

func degrees(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// SetWords replaces the text or the caption; the caption of an album is the first picture's. It fails if the message has
// neither.
func (d *ScheduledDraft) SetWords(text string) error {
	switch {
	case d.Text != nil:
		text := Text{Text: text, MentionAll: d.Text.MentionAll}
		d.Text = &text
	case d.File != nil && d.File.Type != MediaAudio && d.File.Type != MediaSticker:
		file := *d.File
		file.Caption = text
		d.File = &file
	case d.Album != nil:
		d.Album = slices.Clone(d.Album)
		d.Album[0].Caption = text
	default:
		return Invalid("a scheduled message of the type %s has no text to change: cancel it and schedule another", d.Type())
	}
	return nil
}

// ScheduledMessage is an element of the list of scheduled messages.
type ScheduledMessage struct {
	ID        string           `json:"msgId"`
	Chat      JID              `json:"chatJid"`
	Status    ScheduledStatus  `json:"status"`
	SendAt    Time             `json:"sendAt"`
	CreatedAt Time             `json:"createdAt"`
	Type      ScheduledType    `json:"type"`
	Content   string           `json:"content"` // the text or the caption; see [ScheduledDraft.Words]
	Media     *ScheduledMedia  `json:"media"`
	Items     []ScheduledMedia `json:"items"` // the pictures and videos of an album; nil for other messages
	Location  *Place           `json:"location"`
	Poll      *ScheduledPoll   `json:"poll"`
	Mentions  []JID            `json:"mentions"`
	Quoted    *MessageRef      `json:"quoted"`
	Forwarded *MessageRef      `json:"forwarded"` // the message that is forwarded
	Begun     bool             `json:"begun"`     // it may have been sent
	Error     *ScheduledError  `json:"error"`
}

// ScheduledMedia is the file of a scheduled message.
type ScheduledMedia struct {
	Type     MediaType `json:"type"`
	MimeType string    `json:"mimetype"`
	Size     int64     `json:"size"`
	FileName string    `json:"fileName"`
	PTT      bool      `json:"ptt"`
}

// ScheduledPoll is the poll of a scheduled message.
type ScheduledPoll struct {
	Name       string   `json:"name"`
	Values     []string `json:"values"`
	Selectable int      `json:"selectableCount"`
}

// Shown returns the message as lists and events show it.
func (m Scheduled) Shown() ScheduledMessage {
	d := m.Draft
	shown := ScheduledMessage{
		ID: m.ID, Chat: m.Chat, Status: m.Status, SendAt: m.SendAt, CreatedAt: m.CreatedAt, Type: d.Type(), Content: d.Words(),
		Mentions: append([]JID{}, d.Mentions...), Quoted: d.Quote, Forwarded: d.Forward, Begun: m.Begun, Error: m.Error,
	}
	if d.File != nil {
		shown.Media = new(d.File.scheduled())
	}
	for _, file := range d.Album {
		shown.Items = append(shown.Items, file.scheduled())
	}
	if d.Location != nil {
		shown.Location = &Place{Latitude: d.Location.Latitude, Longitude: d.Location.Longitude, Name: d.Location.Name, Address: d.Location.Address}
	}
	if d.Poll != nil {
		shown.Poll = &ScheduledPoll{d.Poll.Name, d.Poll.Values, d.Poll.Selectable}
	}
	return shown
}

func (f File) scheduled() ScheduledMedia {
	return ScheduledMedia{f.Type, f.MimeType, f.Size, f.FileName, f.PTT}
}

// ScheduledQuery asks for a page of the scheduled messages, the next one first.
type ScheduledQuery struct {
	Only   []JID // the chats that the caller may see; nil for all
	Chat   JID   // "" for all
	Limit  int
	Cursor string
}

// ScheduledQuota limits the scheduled messages, and the bytes of their texts and files: of all, of all that
// tokens have scheduled, and of one token tree. BRIDGE_TOKEN has the first limit only.
type ScheduledQuota struct {
	Count, CreatedCount, TreeCount int
	Bytes, CreatedBytes, TreeBytes int64
}

// Scheduling is the quota of scheduled messages.
var Scheduling = ScheduledQuota{
	Count: 4000, CreatedCount: 3000, TreeCount: 1000,
	Bytes: 2 << 30, CreatedBytes: 3 << 29, TreeBytes: 512 << 20,
}

// ScheduledUse is how much scheduled messages use of a [ScheduledQuota].
type ScheduledUse struct {
	Count, CreatedCount, TreeCount int
	Bytes, CreatedBytes, TreeBytes int64
}

// Admits returns an error if another message of a token, whose files have some bytes, would exceed the quota. use must
// not contain that message.
func (q ScheduledQuota) Admits(use ScheduledUse, token, bytes int64) error {
	const remedy = "cancel some, or wait until some are sent"
	switch {
	case use.Count >= q.Count:
		return Invalid("%d messages are scheduled already, which is the limit: %s", q.Count, remedy)
	case use.Bytes+bytes > q.Bytes:
		return Invalid("the files of scheduled messages would take more than %d MB: %s", q.Bytes>>20, remedy)
	case token == 0:
		return nil
	case use.TreeCount >= q.TreeCount:
		return Invalid("a token and the tokens that it created can schedule %d messages: %s", q.TreeCount, remedy)
	case use.TreeBytes+bytes > q.TreeBytes:
		return Invalid("the files of this token's scheduled messages would take more than %d MB: %s", q.TreeBytes>>20, remedy)
	case use.CreatedCount >= q.CreatedCount:
		return Invalid("all tokens together can schedule %d messages: %s", q.CreatedCount, remedy)
	case use.CreatedBytes+bytes > q.CreatedBytes:
		return Invalid("the files of all tokens' scheduled messages would take more than %d MB: %s", q.CreatedBytes>>20, remedy)
	}
	return nil
}

// NoScheduled returns the error for a message that is not scheduled.
func NoScheduled(id string) *Error {
	return NotFound("there is no scheduled message %s: it was sent or cancelled, or never existed", quoted(id))
}

// StillMentioned returns the people whom a text still mentions as @number.
func StillMentioned(text string, people []JID) []JID {
	return slices.DeleteFunc(slices.Clone(people), func(person JID) bool { return !HasWord(text, "@"+person.User()) })
}

// HasWord reports whether a text has an @user that is not the beginning of another.
func HasWord(text, word string) bool {
	for {
		_, rest, found := strings.Cut(text, word)
		if !found {
			return false
		}
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			return true
		}
		text = rest
	}
}
