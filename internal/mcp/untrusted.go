package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxPage  = 50    // messages, chats or matches of one answer
	maxShort = 2000  // characters of a text in a list
	maxLong  = 16000 // characters of one message's text
	maxName  = 200   // characters of a name
)

// visible returns a text in which control, formatting and bidirectional
// characters stand as their numbers: nothing in it acts on a terminal, or makes
// words look like others. Line breaks and tabs stay.
func visible(s string) string {
	acts := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cf, r) && !joins(r)) || r == utf8.RuneError
	}
	if !strings.ContainsFunc(s, acts) {
		return s
	}
	var shown strings.Builder
	for _, r := range s {
		if acts(r) {
			fmt.Fprintf(&shown, "[U+%04X]", r)
			continue
		}
		shown.WriteRune(r)
	}
	return shown.String()
}

// joins reports whether a formatting character only shapes what stands beside
// it, as in emoji and in Persian.
func joins(r rune) bool { return r == '\u200d' || r == '\u200c' }

// capped returns the beginning of a text, visible, and says how much is left
// out.
func capped(s string, most int) string {
	if count := utf8.RuneCountInString(s); count > most {
		runes := []rune(s)
		return visible(string(runes[:most])) + fmt.Sprintf(" [%d more characters]", count-most)
	}
	return visible(s)
}

// message is what is shown of a message.
type message struct {
	MsgID     string      `json:"msgId"`
	FromMe    bool        `json:"fromMe"`
	SenderJID bridge.JID  `json:"senderJid"`
	Name      string      `json:"senderName"`
	Timestamp bridge.Time `json:"timestamp"`
	Type      string      `json:"messageType"`
	Text      string      `json:"text"`
	Quotes    string      `json:"quotedMsgId,omitempty"`
	File      *file       `json:"file,omitempty"`
	Reactions []reaction  `json:"reactions,omitempty"`
	Poll      *poll       `json:"poll,omitempty"`
	Status    string      `json:"status,omitempty"`
	IsEdited  bool        `json:"isEdited,omitempty"`
	IsDeleted bool        `json:"isDeleted,omitempty"`
}

type file struct {
	Type     string `json:"type"`
	MimeType string `json:"mimetype"`
	Name     string `json:"fileName,omitempty"`
	Size     int64  `json:"size"`
}

type reaction struct {
	SenderJID bridge.JID `json:"senderJid"`
	Emoji     string     `json:"emoji"`
}

type poll struct {
	Name    string       `json:"name"`
	Options []pollOption `json:"options"`
}

type pollOption struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
}

// maxReactions bounds the reactions that are shown of one message.
const maxReactions = 20

// messageOf returns what is shown of a message, with at most so many characters
// of its text.
func messageOf(m bridge.Message, most int) message {
	shown := message{
		MsgID: capped(m.ID, maxName), FromMe: m.FromMe, SenderJID: m.SenderJID, Name: capped(m.PushName, maxName), Timestamp: m.Timestamp,
		Type: capped(m.MessageType, maxName), Text: capped(m.Content, most), IsEdited: m.EditedAt != nil, IsDeleted: m.DeletedAt != nil,
	}
	if m.ContextInfo != nil && m.ContextInfo.QuotedMsgID != nil {
		shown.Quotes = capped(*m.ContextInfo.QuotedMsgID, maxName)
	}
	if m.Status != nil {
		shown.Status = string(*m.Status)
	}
	if m.Media != nil {
		shown.File = &file{string(m.Media.Type), capped(m.Media.MimeType, maxName), capped(m.Media.FileName, maxName), m.Media.Size}
	}
	shown.Reactions = each(m.Reactions[:min(len(m.Reactions), maxReactions)], func(r bridge.MessageReaction) reaction { return reaction{r.SenderJID, capped(r.Emoji, maxName)} })
	if m.Poll != nil {
		shown.Poll = &poll{capped(m.Poll.Name, maxName), each(m.Poll.Options, func(o bridge.PollOption) pollOption { return pollOption{capped(o.Name, maxName), o.Votes} })}
	}
	return shown
}

// each returns what is shown of each element of a list.
func each[T, S any](list []T, show func(T) S) []S {
	shown := make([]S, len(list))
	for i, one := range list {
		shown[i] = show(one)
	}
	return shown
}

func messagesOf(list []bridge.Message) []message {
	return each(list, func(m bridge.Message) message { return messageOf(m, maxShort) })
}

// chat is what is shown of a chat.
type chat struct {
	JID           bridge.JID   `json:"jid"`
	IsGroup       bool         `json:"isGroup"`
	Name          string       `json:"name"`
	Username      string       `json:"username,omitempty"`
	LastMessageAt *bridge.Time `json:"lastMessageAt"`
}

func chatOf(c bridge.Chat) chat {
	shown := chat{JID: c.JID, IsGroup: c.IsGroup, Name: capped(c.Name, maxName), LastMessageAt: c.LastMessageAt}
	if c.Username != nil {
		shown.Username = capped(*c.Username, maxName)
	}
	return shown
}

// answer is a tool's answer: what the bridge says, and below untrusted what
// other people wrote.
type answer map[string]any

// with returns the answer with a cursor, if there is one.
func (a answer) with(next *string) answer {
	a["nextCursor"] = next
	return a
}

// text returns the answer as a resource or a prompt shows it.
func (a answer) text() (string, error) {
	encoded, err := json.Marshal(a)
	return string(encoded), err
}
