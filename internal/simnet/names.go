package simnet

import "go.mau.fi/whatsmeow/types"

// The identifiers of this package's API, so that its users need not import
// whatsmeow's packages to name them.
type (
	// JID names an account, one of its devices, or a group.
	JID = types.JID
	// MessageID is a message's id, unique in its chat.
	MessageID = types.MessageID
)
