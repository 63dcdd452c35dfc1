package waha

import (
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// messageID is WAHA's id of a message: its direction, chat and id, and in groups its sender.
type messageID struct {
	FromMe bool
	Chat   bridge.JID // empty if only the id is given
	ID     string
	Sender bridge.JID // in groups; may be empty
}

// String returns the id in WAHA's form.
func (m messageID) String() string {
	name := strconv.FormatBool(m.FromMe) + "_" + compat.AsChat(m.Chat) + "_" + m.ID
	if m.Sender != "" {
		name += "_" + compat.AsChat(m.Sender)
	}
	return name
}

// parseMessageID parses an id of three or four parts, or the plain id of a message.
func parseMessageID(name string) (messageID, error) {
	direction, rest, _ := strings.Cut(name, "_")
	chat, id, named := strings.Cut(rest, "_")
	if direction != "true" && direction != "false" || !named || !strings.Contains(chat, "@") {
		if name == "" {
			return messageID{}, bridge.Invalid("the message's id is missing")
		}
		return messageID{ID: name}, nil
	}
	parsed, err := compat.Recipient(chat)
	if err != nil {
		return messageID{}, err
	}
	m := messageID{FromMe: direction == "true", Chat: parsed, ID: id}
	if i := strings.LastIndexByte(id, '_'); parsed.IsGroup() && i > 0 && strings.Contains(id[i:], "@") {
		if m.Sender, err = compat.Recipient(id[i+1:]); err != nil {
			return messageID{}, err
		}
		m.ID = id[:i]
	}
	if m.ID == "" {
		return messageID{}, bridge.Invalid("the message's id is missing after its chat")
	}
	return m, nil
}

// messageIn returns the chat and the plain id of a message. chat is the chat of an id that has none; it may be
// empty.
func messageIn(chat bridge.JID, name string) (bridge.JID, string, error) {
	m, err := parseMessageID(name)
	switch {
	case err != nil:
		return "", "", err
	case m.Chat != "":
		return m.Chat, m.ID, nil
	case chat == "":
		return "", "", bridge.Invalid("give the whole id of the message, such as false_15551234567@c.us_%s, or its chatId", bridge.Beginning(m.ID, 50))
	}
	return chat, m.ID, nil
}
