package simnet

import (
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
)

// begin handles the login of a device, or the request of a client to be linked. It reports whether to go on.
func (n *Network) begin(c *conn) bool {
	payload := c.session.payload
	if n.outdated(payload) {
		c.sendLast(failureNode(ConnectFailure{Reason: 405}))
		return false
	}
	if payload.DevicePairingData != nil {
		return n.beginPairing(c, payload.GetDevicePairingData())
	}
	return n.login(c, payload)
}

// login admits a known device, or tells it why not.
func (n *Network) login(c *conn, payload *waWa6.ClientPayload) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	number := strconv.FormatUint(payload.GetUsername(), 10)
	d := n.device(types.JID{User: number, Server: types.DefaultUserServer, Device: uint16(payload.GetDevice())})
	// A device that is unknown, unlinked or has another key gets the same answer.
	if d == nil || d.removed || d.noise != c.session.clientStatic {
		c.sendLast(failureNode(ConnectFailure{Reason: 401}))
		return false
	}
	if failure, failing := d.faults.loginFailure(); failing {
		c.sendLast(failureNode(failure))
		return false
	}
	if old := d.conn; old != nil {
		n.detach(old)
		old.sendLast(streamError("", "replaced"))
	}
	n.attach(c, d)
	c.send(Node{Tag: "success", Attrs: attrs{
		"t": unixNow(), "lid": d.LID(), "props": "30", "companion_enc_static": "simulated", "location": "lo",
	}})
	n.notify()
	return true
}

func (n *Network) attach(c *conn, d *Device) {
	c.device, d.conn, d.active = d, c, false
	d.counters.Logins++
	c.mu.Lock()
	c.delay = d.faults.delay
	c.mu.Unlock()
	d.queue.rewind()
}

// detach separates a device from its connection, and puts what is not acknowledged back in the queue. The caller holds mu.
func (n *Network) detach(c *conn) {
	d := c.device
	if d == nil {
		return
	}
	c.device = nil
	if d.conn != c {
		return
	}
	d.conn, d.active = nil, false
	n.goneUnavailable(d)
	d.queue.rewind()
	n.notify()
}

// disconnected clears up after a connection. The caller holds mu.
func (n *Network) disconnected(c *conn) {
	n.detach(c)
	if c.pairing != nil {
		n.endPairing(c.pairing)
	}
}

// activate begins delivery to a client that has said it is ready. The caller holds mu.
func (n *Network) activate(d *Device) {
	if d.conn == nil || d.active {
		return
	}
	d.active = true
	n.resume(d)
	if !d.introduced && d.number != 0 {
		d.introduced = true
		d.account.phone.welcome(d)
	}
	n.notify()
}

// ConnectFailure is the server's answer to a login that it refuses.
type ConnectFailure struct {
	// Reason is 401, 403 or 406 for a device that is no longer welcome, 402 for a temporary ban, 405 for a client that is
	// too old, 500 or 503 for a server that cannot serve.
	Reason int
	// Code and Expire are the reason and the length of a temporary ban.
	Code   int
	Expire time.Duration
	// Message is a text that comes with the refusal.
	Message string
}

func failureNode(f ConnectFailure) Node {
	a := attrs{"reason": strconv.Itoa(f.Reason)}
	if f.Reason == 402 {
		a["code"] = strconv.Itoa(f.Code)
		a["expire"] = strconv.Itoa(int(f.Expire / time.Second))
	}
	set(a, "message", f.Message)
	return Node{Tag: "failure", Attrs: a}
}

func streamError(code, conflict string) Node {
	node := Node{Tag: "stream:error", Attrs: attrs{}}
	set(node.Attrs, "code", code)
	if conflict != "" {
		node.Content = []Node{{Tag: "conflict", Attrs: attrs{"type": conflict}}}
	}
	return node
}

// handle handles one stanza from a client.
func (n *Network) handle(c *conn, node *Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
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
		n.log.Warnf("stanza not understood: %s", node.Tag)
	}
}

// handleAck handles a device's acknowledgement of a stanza.
func (n *Network) handleAck(d *Device, node *Node) {
	key := ackKey{class: text(node, "class"), id: text(node, "id"), from: jidOf(node, "to"), participant: jidOf(node, "participant")}
	if key.class != "message" {
		key.kind = text(node, "type")
	}
	code, _ := strconv.Atoi(text(node, "error"))
	if !n.acknowledge(d, key, "ack", code) {
		n.log.Debugf("acknowledgement of %s %s, which is not on the wire", key.class, key.id)
	}
}
