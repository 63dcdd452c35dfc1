package harness

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// Conversation is a chat of the account in which a person writes every kind of
// message, with the API's expected answers.
type Conversation struct {
	testing.TB
	Me, By  *simnet.Phone // the account's own phone, and the person's
	Witness *simnet.Phone // another member of a group; nil in a direct chat
	In      simnet.JID    // the chat, from the account's side
	ToMe    simnet.JID    // the chat, from by's side
	ToThem  simnet.JID    // the chat, from the side of the account's phone
	BySelf  simnet.JID    // by's identity in this chat
	MeHere  simnet.JID    // the account's identity in this chat
	Shown   []Object
}

// ChatTimer is the disappearing timer of the direct chats, in seconds.
const ChatTimer = 86400

// Download returns the path of a message's file.
func (c *Conversation) Download(id simnet.MessageID) string {
	return bridge.DownloadPath(bridge.JID(c.In.String()), id)
}
