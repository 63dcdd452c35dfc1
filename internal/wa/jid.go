package wa

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// toBridge returns j without its device, under the servers that package bridge knows.
// What it does not know (channels, say) becomes the empty JID.
func toBridge(j types.JID) bridge.JID {
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

// parseToBridge reads a JID from a protobuf's text; the empty JID if it is none.
func parseToBridge(s string) bridge.JID {
	if s == "" {
		return ""
	}
	j, err := types.ParseJID(s)
	if err != nil {
		return ""
	}
	return toBridge(j)
}

// toWA returns the library's form of j.
func toWA(j bridge.JID) types.JID { return types.NewJID(j.User(), j.Server()) }

// identityOf joins two forms of a person, if they are a number and a LID.
func identityOf(a, b types.JID) (bridge.Identity, bool) {
	first, second := toBridge(a), toBridge(b)
	switch {
	case first.Server() == bridge.ServerUser && second.IsLID():
		return bridge.Identity{PN: first, LID: second}, true
	case first.IsLID() && second.Server() == bridge.ServerUser:
		return bridge.Identity{PN: second, LID: first}, true
	}
	return bridge.Identity{}, false
}
