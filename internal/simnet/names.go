package simnet

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// The words of this package's API that others have defined, so that its users need not import their packages to name them.
type (
	// JID names an account, one of its devices, or a group.
	JID = types.JID
	// MessageID is a message's id, unique in its chat.
	MessageID = types.MessageID
	// Node is a stanza or a part of one.
	Node = wire.Node
	// ConnectFailure is the server's answer to a login that it refuses.
	ConnectFailure = wire.ConnectFailure
)

type attrs = wire.Attrs
