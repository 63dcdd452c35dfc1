package session

import (
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// interopAgent marks the Signal addresses of people on other messengers. whatsmeow uses other
// numbers for its own servers (types/jid.go).
const interopAgent = 64

// setInteropAgent separates the Signal sessions of people on other messengers from those of phone
// numbers with the same digits, and from each other: whatsmeow builds an address from the digits
// and the agent only (types/jid.go, SignalAddressUser). The agent of these JIDs is not sent to
// the network (binary/encoder.go).
func setInteropAgent(stanza *waBinary.Node) {
	for name, value := range stanza.Attrs {
		if jid, ok := value.(types.JID); ok && jid.Server == types.InteropServer {
			jid.RawAgent = interopAgent + uint8(jid.Integrator%interopAgent)
			stanza.Attrs[name] = jid
		}
	}
}
