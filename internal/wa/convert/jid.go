package convert

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// JID returns j without its device, under the servers that package bridge knows.
// What it does not know (channels, say) becomes the empty JID.
func JID(j types.JID) bridge.JID {
	server := ""
	switch j.Server {
	case types.DefaultUserServer, types.LegacyUserServer, types.HostedServer:
		server = bridge.ServerUser
	case types.HiddenUserServer, types.HostedLIDServer:
		server = bridge.ServerLID
	case types.GroupServer:
		server = bridge.ServerGroup
	case types.BroadcastServer:
		server = bridge.ServerBroadcast
	case types.BotServer:
		server = bridge.ServerBot
	}
	jid, err := bridge.ParseJID(j.User + "@" + server)
	if err != nil {
		return ""
	}
	return jid
}

// ParseJID reads a JID from a protobuf's text; the empty JID if it is none.
func ParseJID(s string) bridge.JID {
	if s == "" {
		return ""
	}
	j, err := types.ParseJID(s)
	if err != nil {
		return ""
	}
	return JID(j)
}

// WireJID returns the library's form of j.
func WireJID(j bridge.JID) types.JID { return types.NewJID(j.User(), j.Server()) }

// IsPerson reports whether a JID is a number or a LID.
func IsPerson(jid types.JID) bool {
	return jid.User != "" && (jid.Server == types.DefaultUserServer || jid.Server == types.HiddenUserServer)
}

// Identity joins two forms of a person, if they are a number and a LID.
func Identity(a, b types.JID) (bridge.Identity, bool) {
	first, second := JID(a), JID(b)
	switch {
	case first.Server() == bridge.ServerUser && second.IsLID():
		return bridge.Identity{PN: first, LID: second}, true
	case first.IsLID() && second.Server() == bridge.ServerUser:
		return bridge.Identity{PN: second, LID: first}, true
	}
	return bridge.Identity{}, false
}
