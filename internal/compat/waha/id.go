package waha

import (
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// messageID names a message as WAHA does: by its direction, chat and id, and in groups by
// its sender.
type messageID struct {
	FromMe bool
	Chat   bridge.JID // empty for a bare id
	ID     string
	Sender bridge.JID // in groups; empty if the name does not have it
}

// String returns the name.
func (m messageID) String() string {
	name := strconv.FormatBool(m.FromMe) + "_" + compat.AsChat(m.Chat) + "_" + m.ID
	if m.Sender != "" {
		name += "_" + compat.AsChat(m.Sender)
	}
	return name
}

// parseMessageID reads a name of three or four parts, or a bare id.
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
		return messageID{}, bridge.Invalid("the message's id is missing behind its chat")
	}
	return m, nil
}

// in returns the chat and the id of a message; a bare id is one of the chat that the call
// names.
func (m messageID) in(chat bridge.JID) (bridge.JID, string, error) {
	switch {
	case m.Chat != "":
		return m.Chat, m.ID, nil
	case chat == "":
		return "", "", bridge.Invalid("give the whole id of the message, such as false_15551234567@c.us_%s, or its chatId", bridge.Beginning(m.ID, 50))
	}
	return chat, m.ID, nil
}
