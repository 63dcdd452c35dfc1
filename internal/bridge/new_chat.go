package bridge

import "time"

// NewChats limits the chats that the account begins. A chat is new while nothing was
// ever sent or received in it. First messages to many strangers are what accounts are
// banned for; the zero value is no limit.
type NewChats struct {
	PerDay int           // within 24 hours; 0 is any number
	MinGap time.Duration // between two of them
}

// IsLimited reports whether there is a limit.
func (n NewChats) IsLimited() bool { return n.PerDay > 0 || n.MinGap > 0 }

// NewChat asks for the right to send the first message in a chat, and counts it. It is
// saved together with that message, and refuses it with [CodeNewChatsLimited]; a chat
// that is not new it lets pass.
type NewChat struct {
	Chat  JID
	Limit NewChats
}

func (NewChat) fact() {}
