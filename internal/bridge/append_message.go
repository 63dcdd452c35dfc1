package bridge

import "errors"

// AppendMessage appends a message of a list as JSON.
func AppendMessage(dst []byte, m *Message) ([]byte, error) {
	dst = append(dst, '{')
	dst = appendStringField(dst, "msgId", m.ID)
	dst = appendBoolField(dst, "fromMe", m.FromMe)
	dst = appendJIDField(dst, "senderJid", m.SenderJID)
	dst = appendJIDField(dst, "senderLid", m.SenderLID)
	dst = appendTextOrNull(dst, "senderUsername", m.SenderUsername)
	dst = appendStringField(dst, "pushName", m.PushName)
	dst = appendStringField(dst, "messageType", m.MessageType)
	dst = appendStringField(dst, "content", m.Content)
	dst = appendContext(dst, m.ContextInfo)
	dst, errQuoted := appendOptional(dst, "quoted", m.Quoted)
	dst = appendTimeField(dst, "timestamp", &m.Timestamp)
	dst = appendMediaField(dst, m.Media)
	dst, errPoll := appendOptional(dst, "poll", m.Poll)
	dst, errReactions := appendReactions(dst, m.Reactions)
	dst = appendTimeField(dst, "editedAt", m.EditedAt)
	dst = appendTimeField(dst, "deletedAt", m.DeletedAt)
	dst = appendStatus(dst, m.Status)
	dst = appendBoolField(dst, "imported", m.Imported)
	dst, errParts := appendParts(dst, &m.Parts)
	dst = appendBoolField(dst, "isForwarded", m.IsForwarded)
	dst = appendTimeField(dst, "expiresAt", m.ExpiresAt)
	dst = appendTimeField(dst, "pinnedUntil", m.PinnedUntil)
	dst = appendBoolField(dst, "kept", m.Kept)
	return append(dst, '}'), errors.Join(errQuoted, errPoll, errReactions, errParts)
}

func appendContext(dst []byte, c *ContextInfo) []byte {
	dst = appendName(dst, "contextInfo")
	if c == nil {
		return append(dst, "null"...)
	}
	dst = appendTextOrNull(append(dst, '{'), "quotedMsgId", c.QuotedMsgID)
	dst = appendJIDField(dst, "quotedSenderJid", c.QuotedSenderJID)
	dst = appendEach(appendName(dst, "mentionedJid"), c.MentionedJID, appendJID)
	dst = appendEach(appendName(dst, "mentions"), c.Mentions, appendMention)
	return append(appendBoolField(dst, "mentionsAll", c.MentionsAll), '}')
}

func appendMention(dst []byte, m Mention) []byte {
	dst = appendJIDField(append(dst, '{'), "jid", m.JID)
	dst = appendJIDField(dst, "lid", m.LID)
	dst = appendStringField(dst, "name", m.Name)
	return append(appendTextOrNull(dst, "token", m.Token), '}')
}

func appendStatus(dst []byte, status *Delivery) []byte {
	if status == nil {
		return append(appendName(dst, "status"), "null"...)
	}
	return appendStringField(dst, "status", string(*status))
}

func appendReactions(dst []byte, reactions []MessageReaction) ([]byte, error) {
	if reactions != nil && len(reactions) == 0 {
		return append(appendName(dst, "reactions"), "[]"...), nil
	}
	return appendField(dst, "reactions", reactions)
}

// noParts are the parts of a message that has none.
const noParts = `,"location":null,"contacts":null,"interactive":null,"event":null,"groupInvite":null,"order":null,"product":null,"linkPreview":null,"referral":null,"album":null,"albumId":null`

// appendParts appends the members of parts, not an object of their own.
func appendParts(dst []byte, parts *Parts) ([]byte, error) {
	if parts.IsZero() && parts.Contacts == nil {
		return append(dst, noParts...), nil
	}
	text, err := EncodeJSON(parts)
	if err != nil {
		return dst, err
	}
	return append(append(dst, ','), text[1:len(text)-1]...), nil
}

// AppendMatch appends a match of a search as JSON.
func AppendMatch(dst []byte, m *Match) ([]byte, error) {
	dst = append(dst, '{')
	dst = appendJIDField(dst, "chatJid", m.ChatJID)
	dst = appendStringField(dst, "chatName", m.ChatName)
	dst = appendStringField(dst, "msgId", m.MsgID)
	dst = appendBoolField(dst, "fromMe", m.FromMe)
	dst = appendJIDField(dst, "senderJid", m.SenderJID)
	dst = appendJIDField(dst, "senderLid", m.SenderLID)
	dst = appendTextOrNull(dst, "senderUsername", m.SenderUsername)
	dst = appendStringField(dst, "pushName", m.PushName)
	dst = appendBoolField(dst, "isGroup", m.IsGroup)
	dst = appendStringField(dst, "messageType", m.MessageType)
	dst = appendStringField(dst, "content", m.Content)
	dst = appendTimeField(dst, "timestamp", &m.Timestamp)
	dst = appendMediaField(dst, m.Media)
	return append(dst, '}'), nil
}
