package convert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

// JID returns j without its device. It returns the empty JID for a server that package bridge does
// not know, such as the server of channels.
func JID(j types.JID) bridge.JID {
	server, user := "", j.User
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
	case types.InteropServer:
		server = bridge.ServerInterop
		if !strings.Contains(user, "-") { // it is in one piece in texts
			user = strconv.Itoa(int(j.Integrator)) + "-" + user
		}
	}
	jid, err := bridge.ParseJID(user + "@" + server)
	if err != nil {
		return ""
	}
	return jid
}

// ParseJID reads a JID from a protobuf's text. It returns the empty JID if the text is not a JID.
func ParseJID(s string) bridge.JID {
	j, err := types.ParseJID(s)
	if s == "" || err != nil {
		return ""
	}
	return JID(j)
}

// WireJID returns the library's form of j.
func WireJID(j bridge.JID) types.JID {
	if messenger, user, _ := strings.Cut(j.User(), "-"); j.IsInterop() {
		integrator, _ := strconv.ParseUint(messenger, 10, 16) // j has digits alone
		return types.JID{User: user, Integrator: uint16(integrator), Server: types.InteropServer}
	}
	return types.NewJID(j.User(), j.Server())
}

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

// identityFacts returns [Identity] as an update, or nil.
func identityFacts(a, b types.JID) []bridge.Fact {
	if identity, ok := Identity(a, b); ok {
		return []bridge.Fact{identity}
	}
	return nil
}

// maxIDLength bounds the ids that are stored unchanged. The apps' own ids have at most 32 characters.
const maxIDLength = 128

// ID returns the id of a message in the store and the API. It is the sender's own id, unless that id
// cannot be used in a path, in JSON or in a line of the log. Then it is derived from its hash, so that
// later references to the message find it.
func ID(given string) string {
	if given == "" || isPlainID(given) {
		return given
	}
	sum := sha256.Sum256([]byte(given))
	return madeUpID + hex.EncodeToString(sum[:16])
}

// madeUpID begins the ids that ID makes up.
const madeUpID = "x-"

// IsMadeUpID reports whether ID has made an id up.
func IsMadeUpID(id string) bool { return strings.HasPrefix(id, madeUpID) }

// maxWireID bounds, in bytes, the network's ids that are stored. The apps' own ids have 32.
const maxWireID = 1024

// wireIDOf returns the network's id if ID replaces it. It is empty otherwise, and for an id that is
// not valid text or too long to be sent.
func wireIDOf(given string) string {
	if ID(given) == given || len(given) > maxWireID || !utf8.ValidString(given) {
		return ""
	}
	return given
}

// OnWire returns the network's id of a message.
func OnWire(m *bridge.Message) string { return cmp.Or(m.WireID, m.ID) }

// isPlainID reports whether an id has visible ASCII characters alone, and leads
// nowhere else in a path that is decoded or normalised on its way.
func isPlainID(id string) bool {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '/' || c == '\\' || c == '%' {
			return false
		}
	}
	return len(id) <= maxIDLength && id != "." && id != ".."
}
