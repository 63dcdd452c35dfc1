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
// characters are written as their numbers: nothing in it acts on a terminal, or makes
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

// capped returns the beginning of a text, visible, and how much is left out.
func capped(s string, most int) string {
	if count := utf8.RuneCountInString(s); count > most {
		runes := []rune(s)
		return visible(string(runes[:most])) + fmt.Sprintf(" [%d more characters]", count-most)
	}
	return visible(s)
}

// maxReactions bounds the reactions that are shown of one message.
const maxReactions = 20

// messageOf shows a message, with at most so many characters of its text.
func messageOf(m bridge.Message, most int) answer {
	shown := answer{
		"msgId": capped(m.ID, maxName), "fromMe": m.FromMe, "senderJid": m.SenderJID, "senderName": capped(m.PushName, maxName),
		"timestamp": m.Timestamp, "messageType": capped(m.MessageType, maxName), "text": capped(m.Content, most),
	}
	if m.ContextInfo != nil && m.ContextInfo.QuotedMsgID != nil {
		shown["quotedMsgId"] = capped(*m.ContextInfo.QuotedMsgID, maxName)
	}
	if m.Status != nil {
		shown["status"] = *m.Status
	}
	if m.EditedAt != nil {
		shown["isEdited"] = true
	}
	if m.DeletedAt != nil {
		shown["isDeleted"] = true
	}
	if m.Media != nil {
		shown["file"] = fileOf(*m.Media)
	}
	if len(m.Reactions) > 0 {
		shown["reactions"] = each(m.Reactions[:min(len(m.Reactions), maxReactions)], func(r bridge.MessageReaction) answer {
			return answer{"senderJid": r.SenderJID, "emoji": capped(r.Emoji, maxName)}
		})
	}
	if m.Poll != nil {
		shown["poll"] = answer{"name": capped(m.Poll.Name, maxName), "options": each(m.Poll.Options, func(o bridge.PollOption) answer {
			return answer{"name": capped(o.Name, maxName), "votes": o.Votes}
		})}
	}
	return shown
}

func fileOf(m bridge.Media) answer {
	return answer{"type": m.Type, "mimetype": capped(m.MimeType, maxName), "size": m.Size}.named("fileName", m.FileName)
}

func each[T any](list []T, show func(T) answer) []answer {
	shown := make([]answer, len(list))
	for i, one := range list {
		shown[i] = show(one)
	}
	return shown
}

func messagesOf(list []bridge.Message) []answer {
	return each(list, func(m bridge.Message) answer { return messageOf(m, maxShort) })
}

func chatOf(c bridge.Chat) answer {
	shown := answer{"jid": c.JID, "isGroup": c.IsGroup, "name": capped(c.Name, maxName), "lastMessageAt": c.LastMessageAt}
	if c.Username != nil {
		shown.named("username", *c.Username)
	}
	return shown
}

// answer holds a tool's answer: facts of the bridge, and below untrusted the texts and
// names that other people chose.
type answer map[string]any

// with returns the answer with a cursor, if there is one.
func (a answer) with(next *string) answer {
	a["nextCursor"] = next
	return a
}

// named returns the answer with a name, if there is one.
func (a answer) named(key, name string) answer {
	if name != "" {
		a[key] = capped(name, maxName)
	}
	return a
}

// text returns the answer as a resource or a prompt shows it.
func (a answer) text() (string, error) {
	encoded, err := json.Marshal(a)
	return string(encoded), err
}
