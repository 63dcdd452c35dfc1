package cloud

import (
	"encoding/base64"
	"strings"

	"bridged/internal/bridge"
)

// messageRef identifies a message. Sender is its sender in a group; empty for own messages and in chats with
// one person.
type messageRef struct {
	Chat   bridge.JID
	Sender bridge.JID
	ID     string
}

// These are the prefixes of ids: of messages, of their files, and of uploaded files.
const (
	messagePrefix = "wamid."
	filePrefix    = "m"
	uploadPrefix  = "u"
)

// refOf returns the reference of a message in a chat.
func refOf(chat bridge.JID, m *bridge.Message) messageRef {
	ref := messageRef{Chat: chat, ID: m.ID}
	if chat.IsGroup() && !m.FromMe {
		ref.Sender = m.SenderJID
	}
	return ref
}

// messageID returns the message's id for clients.
func (m messageRef) messageID() string { return messagePrefix + m.encoded() }

// MessageID returns the id that clients of the API see for a message of a chat.
func MessageID(chat bridge.JID, m *bridge.Message) string { return refOf(chat, m).messageID() }

// fileID returns the id of the message's file for clients.
func (m messageRef) fileID() string { return filePrefix + m.encoded() }

func (m messageRef) encoded() string {
	text := string(m.Chat) + "/"
	if m.Chat.IsGroup() {
		text += string(m.Sender) + "/"
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text + m.ID))
}

// parseMessageID parses an id that messageID returned.
func parseMessageID(id string) (messageRef, error) {
	if ref, ok := decodeRef(id, messagePrefix); ok {
		return ref, nil
	}
	return messageRef{}, bridge.Invalid("%q is not the id of a message of bridged, which begins with wamid.", bridge.Beginning(id, 60))
}

// parseFileID parses an id that fileID returned.
func parseFileID(id string) (messageRef, bool) { return decodeRef(id, filePrefix) }

func decodeRef(id, prefix string) (m messageRef, ok bool) {
	encoded, found := strings.CutPrefix(id, prefix)
	text, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if !found || err != nil || strings.ContainsAny(encoded, "\r\n") { // the decoder ignores these
		return m, false
	}
	chat, rest, _ := strings.Cut(string(text), "/")
	if m.Chat, ok = asJID(chat); !ok || !m.Chat.IsPerson() && !m.Chat.IsGroup() {
		return messageRef{}, false
	}
	if m.Chat.IsGroup() {
		var sender string
		if sender, rest, ok = strings.Cut(rest, "/"); !ok {
			return messageRef{}, false
		}
		if m.Sender, ok = asJID(sender); sender != "" && (!ok || !m.Sender.IsPerson()) {
			return messageRef{}, false
		}
	}
	m.ID = rest
	return m, m.ID != ""
}

// asJID parses a JID in bridged's own spelling.
func asJID(text string) (bridge.JID, bool) {
	jid, err := bridge.ParseJID(text)
	return jid, err == nil && string(jid) == text
}
