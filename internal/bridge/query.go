package bridge

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ChatType filters lists by the kind of chat.
type ChatType string

const (
	ChatsAll        ChatType = "all"
	ChatsGroup      ChatType = "group"
	ChatsIndividual ChatType = "individual"
)

// ChatKind filters the list of chats by what they are. Each chat is of one kind.
type ChatKind string

const (
	KindGroup      ChatKind = "group"
	KindIndividual ChatKind = "individual" // with another person
	KindCommunity  ChatKind = "community"  // holds groups together
	KindSelf       ChatKind = "self"       // notes to oneself
	KindImported   ChatKind = "imported"   // from an export, under a name of its own
)

// Order sorts a history by timestamp, then seq.
type Order string

const (
	OrderAsc  Order = "asc"
	OrderDesc Order = "desc"
)

// Fold says which spellings of a text are the same to a search, beside those in another case.
type Fold string

// FoldAccents finds letters with and without accents alike, where these make no other letter:
// those of Latin, Greek and Cyrillic, and the points of Hebrew and Arabic.
const FoldAccents Fold = "accents"

// ChatQuery asks for a page of the list of chats. Q is a part of name or JID. Only, unless nil,
// names the chats that may be shown.
type ChatQuery struct {
	Only       []JID
	Type       ChatType
	Kind       ChatKind
	Q          string
	Unread     *bool
	Unanswered *bool // whether the last message is somebody else's
	Archived   *bool
	Pinned     *bool
	Limit      int
	Offset     int
	Cursor     string
}

// Words that [MessageFilter.Type] may have beside the names of message types and the kinds
// of files.
const (
	TypeMedia = "media" // any message with a file
	TypeLink  = "link"  // one with an http(s) address in its text, or with a link's preview
)

// MessageFilter narrows lists of messages; zero values are no filter. Type is a message type,
// a [MediaType], [TypeMedia] or [TypeLink].
type MessageFilter struct {
	Type     string
	FromMe   *bool
	HasMedia *bool
}

// IsZero reports whether the filter lets every message through.
func (f MessageFilter) IsZero() bool { return f == MessageFilter{} }

// ParseMessageType checks a [MessageFilter.Type]. A name without a capital letter is one of
// the words or of the few types that have none: any other is a mistake.
func ParseMessageType(text string) (string, error) {
	known := slices.Contains(MediaTypes, MediaType(text)) ||
		slices.Contains([]string{TypeMedia, TypeLink, TypeText, TypeUndecryptable, "call", "chat"}, text)
	if !known && !messageTypeName.MatchString(text) {
		return "", errors.New("must be a messageType, such as imageMessage, or one of media, image, video, audio, document, sticker, link")
	}
	return text, nil
}

// messageTypeName matches names of protobuf fields in camel case.
var messageTypeName = regexp.MustCompile(`^[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*$`)

// HasAddress reports whether a text has an http(s) address with the beginning of a host.
func HasAddress(text string) bool {
	for {
		scheme, rest, found := strings.Cut(text, "://")
		if !found {
			return false
		}
		host, _ := utf8.DecodeRuneInString(rest)
		isHTTP := endsFold(scheme, "http") || endsFold(scheme, "https")
		if isHTTP && (unicode.IsLetter(host) || unicode.IsDigit(host) || host == '[') {
			return true
		}
		text = rest
	}
}

// endsFold reports whether a text ends in an ASCII word, whatever its case.
func endsFold(text, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(text[len(text)-len(word):], word)
}

// MessageQuery asks for a page of one chat's history. Since and Until are inclusive. Offset
// counts from the Cursor, where an earlier page ended, and does not go with a filter: such a
// page may end before it has anything.
type MessageQuery struct {
	Only   []JID // the chats that the caller may see; nil is all
	Chat   JID
	Since  *Time
	Until  *Time
	Q      string
	Fold   Fold
	Sender JID
	MessageFilter
	Order  Order
	Limit  int
	Offset int
	Cursor string
}

// SearchQuery asks for a page of the search in all chats, newest first, or in those of Only
// unless that is nil. Without Q, it needs a chat, a sender or a filter.
type SearchQuery struct {
	Only   []JID
	Q      string
	Fold   Fold
	Chat   JID
	Sender JID
	MessageFilter
	Since    *Time
	Until    *Time
	ChatType ChatType
	Limit    int
	Cursor   string
}

// IsNarrow reports whether the query asks for less than all messages.
func (q SearchQuery) IsNarrow() bool {
	return strings.TrimSpace(q.Q) != "" || q.Chat != "" || q.Sender != "" || !q.MessageFilter.IsZero()
}

// Page holds a part of a list. NextCursor is nil when nothing follows.
type Page[T any] struct {
	Items      []T
	NextCursor *string
}
