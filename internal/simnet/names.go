package simnet

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/media"
	"bridged/internal/simnet/pairing"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/server"
	"bridged/internal/simnet/wire"
)

// Types of the packages below this one, so that its users need not import those.
type (
	// JID names an account, one of its devices, or a group.
	JID = types.JID
	// MessageID is a message's id, unique in its chat.
	MessageID = types.MessageID
	// Node is a stanza or a part of one.
	Node = wire.Node
	// Options configures a network.
	Options = server.Options
	// Device is one device of an account as the server knows it.
	Device = people.Device
	// Counters counts the stanzas between the server and a device.
	Counters = people.Counters
	// Acknowledged is one stanza that a device has acknowledged.
	Acknowledged = people.Acknowledged
	// Waiting is one stanza that a device has not acknowledged.
	Waiting = people.Waiting
	// SendFault makes one message of a device fail.
	SendFault = people.SendFault
	// IQFault makes queries fail.
	IQFault = people.IQFault
	// Capping limits the chats that an account may begin.
	Capping = people.Capping
	// BusinessProfile is what a business shows about itself.
	BusinessProfile = people.BusinessProfile
	// BusinessDay is a part of the opening hours of a business.
	BusinessDay = people.BusinessDay
	// Crowd is a set of people whose devices are switched off.
	Crowd = people.Crowd
	// CrowdOptions describes a crowd.
	CrowdOptions = people.CrowdOptions
	// RefusedError means that a client refused to be linked.
	RefusedError = pairing.RefusedError
	// Authenticator is the passkey of an account.
	Authenticator = pairing.Authenticator
	// CodeStep is a step of linking a client by a pairing code.
	CodeStep = pairing.CodeStep
	// CDN is the network's media server.
	CDN = media.CDN
	// CDNFault makes requests to the CDN fail.
	CDNFault = media.CDNFault
	// CDNRequest is one request to the CDN.
	CDNRequest = media.CDNRequest
	// BusinessMessage is a message as banks, airlines and shops send it, or a customer's answer to one.
	BusinessMessage = content.BusinessMessage
	// BusinessFiles holds the files in the headers of these messages.
	BusinessFiles = content.BusinessFiles
	// PastInfo is a message as phones keep it for their history.
	PastInfo = content.PastInfo
	// ConnectFailure is the server's answer to a login that it refuses.
	ConnectFailure = wire.ConnectFailure
)

// Steps of linking by a pairing code at which the network can void a client's secret.
const (
	BeforeHello   = pairing.BeforeHello
	BeforeSuccess = pairing.BeforeSuccess
)

// Errors of registering and linking.
var (
	ErrNumberTaken    = people.ErrNumberTaken
	ErrTooManyDevices = pairing.ErrTooManyDevices

	ErrNoPairing       = pairing.ErrNoPairing
	ErrWrongCode       = pairing.ErrWrongCode
	ErrBadQR           = pairing.ErrBadQR
	ErrClientGone      = pairing.ErrClientGone
	ErrCheckConnection = pairing.ErrCheckConnection
	ErrPasskeyRefused  = pairing.ErrPasskeyRefused
)

// Messages of people and businesses: see package content.
var (
	BusinessMessages = content.BusinessMessages
	DirectPath       = content.DirectPath
	PastMessage      = content.PastMessage
	PastText         = content.PastText
)

type attrs = wire.Attrs
