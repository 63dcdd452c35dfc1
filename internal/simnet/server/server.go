package server

import (
	"strconv"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

type (
	// Node is a stanza or a part of one.
	Node  = wire.Node
	attrs = wire.Attrs
)

// begin handles a device's login or a client's request to be linked. It reports whether to go on.
func (n *Server) begin(c *people.Client) bool {
	payload := c.Payload()
	if n.outdated(payload) {
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 405}))
		return false
	}
	if payload.DevicePairingData != nil {
		if refusedPlatforms[payload.GetWebInfo().GetWebSubPlatform()] {
			n.HangUpSoon(c)
			return true
		}
		return n.BeginPairing(c, payload.GetDevicePairingData())
	}
	return n.login(c, payload)
}

// login admits a known device, or answers with the reason for its refusal.
func (n *Server) login(c *people.Client, payload *waWa6.ClientPayload) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	number := strconv.FormatUint(payload.GetUsername(), 10)
	d := n.DeviceOf(types.JID{User: number, Server: types.DefaultUserServer, Device: uint16(payload.GetDevice())})
	// An unknown device, an unlinked one and one with another key get the same answer.
	if d == nil || d.Gone || d.Noise != c.Key() {
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 401}))
		return false
	}
	if failure, failing := d.Faults.LoginFailure(); failing {
		c.SendLast(wire.FailureNode(failure))
		return false
	}
	if old := d.Conn; old != nil {
		n.Detach(old)
		old.SendLast(wire.StreamError("", "replaced"))
	}
	n.Attach(c, d)
	c.Send(Node{Tag: "success", Attrs: attrs{
		"t": wire.UnixNow(), "lid": d.LID(), "props": "30", "companion_enc_static": "simulated", "location": "lo",
	}})
	n.Notify()
	if code, failing := d.Faults.StreamFailure(); failing {
		c.SendLast(wire.StreamError(code, ""))
		return false
	}
	return true
}

// refusedPlatforms are the apps whose registrations the network closes without an answer (reported since 2026-06-30).
var refusedPlatforms = map[waWa6.ClientPayload_WebInfo_WebSubPlatform]bool{
	waWa6.ClientPayload_WebInfo_WIN32: true, waWa6.ClientPayload_WebInfo_DARWIN: true,
}

// disconnected cleans up after a connection. The caller holds Directory.Mu.
func (n *Server) disconnected(c *people.Client) {
	n.Detach(c)
	n.Leave(c)
}

// activate begins delivery to a client that has reported to be ready. The caller holds Directory.Mu.
func (n *Server) activate(d *people.Device) {
	if d.Conn == nil || d.Active {
		return
	}
	d.Active = true
	d.ReportDirty()
	n.announceExpiry(d.Conn)
	n.Resume(d)
	if !d.Introduced && d.Number != 0 {
		d.Introduced = true
		d.Account.Owner.Welcome(d)
	}
	n.Notify()
}

// handle handles one stanza from a client.
func (n *Server) handle(c *people.Client, node *Node) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if node.Tag == "iq" {
		n.handleIQ(c, node)
		return
	}
	d := c.Device
	if d == nil {
		n.NoteRotated(c, node)
		return
	}
	switch node.Tag {
	case "message":
		n.handleMessage(d, node)
	case "receipt":
		n.handleReceipt(d, node)
	case "ack":
		n.handleAck(d, node)
	case "call":
		n.handleCall(d, node)
	case "chatstate":
		n.handleChatState(d, node)
	case "presence":
		n.HandlePresence(d, node)
	case "ib":
		n.HandleIB(d, node)
	case "unified_session":
	default:
		n.unknown[node.Tag]++
		n.Log.Warnf("stanza not understood: %s", node.Tag)
	}
}

// handleAck handles a device's acknowledgement of a stanza.
func (n *Server) handleAck(d *people.Device, node *Node) {
	key := people.AckKey{Class: wire.Text(node, "class"), ID: wire.Text(node, "id"), From: wire.JID(node, "to"), Participant: wire.JID(node, "participant")}
	if key.Class != "message" {
		key.Kind = wire.Text(node, "type")
	}
	code, _ := strconv.Atoi(wire.Text(node, "error"))
	if !n.Acknowledge(d, key, "ack", code) {
		n.Log.Debugf("acknowledgement of %s %s, which is not on the wire", key.Class, key.ID)
	}
}
