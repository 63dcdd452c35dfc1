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

// ChatKind filters the list of chats. Each chat is of one kind.
type ChatKind string

const (
	KindGroup      ChatKind = "group"
	KindIndividual ChatKind = "individual" // with another person
	KindCommunity  ChatKind = "community"  // holds groups together
	KindSelf       ChatKind = "self"       // notes to oneself
	KindImported   ChatKind = "imported"   // from an export, under a name of its own
)

// Order is the sort order of a history: by timestamp, then seq.
type Order string

const (
	OrderAsc  Order = "asc"
	OrderDesc Order = "desc"
)

// Fold says which differences a search ignores, in addition to case.
type Fold string

// FoldAccents ignores accents that do not make another letter: the accents of Latin, Greek and
// Cyrillic, and the points of Hebrew and Arabic.
const FoldAccents Fold = "accents"

// ChatQuery asks for a page of the list of chats. Q is part of the name or JID. Only, if not nil,
// lists the chats that may be shown.
type ChatQuery struct {
	Only       []JID
	Type       ChatType
	Kind       ChatKind
	Q          string
	Unread     *bool
	Unanswered *bool // the last message is another person's
	Archived   *bool
	Pinned     *bool
	Label      string // the id of a label that the chats have
	Limit      int
	Offset     int
	Cursor     string
}

// [MessageFilter.Type] may have these values in addition to message types and kinds of files.
const (
	TypeMedia = "media" // any message with a file
	TypeLink  = "link"  // one with an http(s) address in its text, or with a link's preview
)

// MessageFilter filters lists of messages. Zero values do not filter. Type is a message type, a
// [MediaType], [TypeMedia] or [TypeLink].
type MessageFilter struct {
	Type     string
	FromMe   *bool
	HasMedia *bool
	Pinned   *bool // in its chat, for everybody
	Starred  *bool
}

// IsZero reports whether every message passes the filter.
func (f MessageFilter) IsZero() bool { return f == MessageFilter{} }

// ParseMessageType checks a [MessageFilter.Type]. A name without a capital letter must be one of
// the constants or one of the few types that have none; any other is a mistake.
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

// HasAddress reports whether a text has an http(s) URL with the start of a host.
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

// endsFold reports whether a text ends in an ASCII word. Case does not matter.
func endsFold(text, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(text[len(text)-len(word):], word)
}

// MessageQuery asks for a page of one chat's history. Since and Until are inclusive. Offset
// counts from the Cursor of an earlier page. It cannot be combined with a filter, because a
// filtered page may end before it has any messages.
type MessageQuery struct {
	Only   []JID // the chats that the caller may see; nil for all
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

// SearchQuery asks for a page of a search, newest first, in the chats of Only, or in all chats if
// Only is nil. Without Q, it needs a chat, a sender or a filter.
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

// IsNarrow reports whether the query has any condition.
func (q SearchQuery) IsNarrow() bool {
	return strings.TrimSpace(q.Q) != "" || q.Chat != "" || q.Sender != "" || !q.MessageFilter.IsZero()
}

// Page is a part of a list. NextCursor is nil on the last page.
type Page[T any] struct {
	Items      []T
	NextCursor *string
}
