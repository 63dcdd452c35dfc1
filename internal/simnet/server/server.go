package server

import (
	"strconv"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// begin handles the login of a device, or the request of a client to be linked. It reports whether to go on.
func (n *Server) begin(c *conn) bool {
	payload := c.Payload()
	if n.outdated(payload) {
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 405}))
		return false
	}
	if payload.DevicePairingData != nil {
		return n.beginPairing(c, payload.GetDevicePairingData())
	}
	return n.login(c, payload)
}

// login admits a known device, or tells it why not.
func (n *Server) login(c *conn, payload *waWa6.ClientPayload) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	number := strconv.FormatUint(payload.GetUsername(), 10)
	d := n.DeviceOf(types.JID{User: number, Server: types.DefaultUserServer, Device: uint16(payload.GetDevice())})
	// A device that is unknown, unlinked or has another key gets the same answer.
	if d == nil || d.removed || d.noise != c.Key() {
		c.SendLast(wire.FailureNode(wire.ConnectFailure{Reason: 401}))
		return false
	}
	if failure, failing := d.faults.loginFailure(); failing {
		c.SendLast(wire.FailureNode(failure))
		return false
	}
	if old := d.conn; old != nil {
		n.detach(old)
		old.SendLast(wire.StreamError("", "replaced"))
	}
	n.attach(c, d)
	c.Send(Node{Tag: "success", Attrs: attrs{
		"t": wire.UnixNow(), "lid": d.LID(), "props": "30", "companion_enc_static": "simulated", "location": "lo",
	}})
	n.Notify()
	return true
}

func (n *Server) attach(c *conn, d *Device) {
	c.device, d.conn, d.Active = d, c, false
	d.counters.Logins++
	c.Delay(d.faults.delay)
	d.queue.rewind()
}

// detach separates a device from its connection, and puts what is not acknowledged back in the queue. The caller holds mu.
func (n *Server) detach(c *conn) {
	d := c.device
	if d == nil {
		return
	}
	c.device = nil
	if d.conn != c {
		return
	}
	d.conn, d.Active = nil, false
	n.goneUnavailable(d)
	d.queue.rewind()
	n.Notify()
}

// disconnected clears up after a connection. The caller holds mu.
func (n *Server) disconnected(c *conn) {
	n.detach(c)
	if c.pairing != nil {
		n.endPairing(c.pairing)
	}
}

// activate begins delivery to a client that has said it is ready. The caller holds mu.
func (n *Server) activate(d *Device) {
	if d.conn == nil || d.Active {
		return
	}
	d.Active = true
	n.resume(d)
	if !d.introduced && d.Number != 0 {
		d.introduced = true
		d.Account.Owner.Welcome(d)
	}
	n.Notify()
}

// handle handles one stanza from a client.
func (n *Server) handle(c *conn, node *Node) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if node.Tag == "iq" {
		n.handleIQ(c, node)
		return
	}
	d := c.device
	if d == nil {
		n.noteRotated(c.pairing, node)
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
		n.handlePresence(d, node)
	case "ib", "unified_session":
	default:
		n.unknown[node.Tag]++
		n.Log.Warnf("stanza not understood: %s", node.Tag)
	}
}

// handleAck handles a device's acknowledgement of a stanza.
func (n *Server) handleAck(d *Device, node *Node) {
	key := ackKey{class: wire.Text(node, "class"), id: wire.Text(node, "id"), from: wire.JID(node, "to"), participant: wire.JID(node, "participant")}
	if key.class != "message" {
		key.kind = wire.Text(node, "type")
	}
	code, _ := strconv.Atoi(wire.Text(node, "error"))
	if !n.acknowledge(d, key, "ack", code) {
		n.Log.Debugf("acknowledgement of %s %s, which is not on the wire", key.class, key.id)
	}
}
