package content

import "bridged/internal/bridge"

// Addressed has the chat, the quoted message and the time of a request to send. Empty strings count as
// omitted, because form tools send them.
type Addressed struct {
	JID           string `json:"jid"`
	QuotedChatJID string `json:"quotedChatJid"`
	QuotedMsgID   string `json:"quotedMsgId"`
	SendAt        string `json:"sendAt,omitempty"`
}

// Address returns the chat to send to and the message to quote, which by default is in that chat.
func (a Addressed) Address() (to, quotedChat bridge.JID, quotedID string, err error) {
	if to, err = ParseDestination("jid", a.JID); err != nil {
		return "", "", "", err
	}
	switch {
	case a.QuotedMsgID == "" && a.QuotedChatJID != "":
		return "", "", "", bridge.Invalid("quotedMsgId is required where quotedChatJid is given")
	case a.QuotedMsgID == "":
		return to, "", "", nil
	case a.QuotedChatJID == "":
		return to, to, a.QuotedMsgID, nil
	}
	quotedChat, err = ParseChat("quotedChatJid", a.QuotedChatJID)
	return to, quotedChat, a.QuotedMsgID, err
}
