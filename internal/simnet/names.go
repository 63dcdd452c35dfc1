package simnet

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/media"
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
	// CDN is the network's media server.
	CDN = media.CDN
	// CDNFault makes requests to the CDN fail.
	CDNFault = media.CDNFault
	// CDNRequest is one request to the CDN.
	CDNRequest = media.CDNRequest
	// BusinessMessage is a message as banks, airlines and shops send it, or a customer's answer to one.
	BusinessMessage = content.BusinessMessage
	// BusinessFiles are the files in the headers of these messages.
	BusinessFiles = content.BusinessFiles
	// PastInfo is a message as phones keep it.
	PastInfo = content.PastInfo
	// ConnectFailure is the server's answer to a login that it refuses.
	ConnectFailure = wire.ConnectFailure
)

// What people write and phones keep: see package content.
var (
	BusinessMessages = content.BusinessMessages
	DirectPath       = content.DirectPath
	PastMessage      = content.PastMessage
	PastText         = content.PastText
)

type attrs = wire.Attrs
