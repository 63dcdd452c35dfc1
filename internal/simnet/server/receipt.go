package server

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// handleReceipt handles a device's receipt: delivered, read, played, or a request to send a message again.
func (n *Server) handleReceipt(d *people.Device, node *Node) {
	kind, to := wire.Text(node, "type"), wire.JID(node, "to")
	ack := Node{Tag: "ack", Attrs: attrs{"class": "receipt", "id": wire.Text(node, "id"), "from": to}}
	wire.Set(ack.Attrs, "type", kind)
	wire.Set(ack.Attrs, "participant", wire.JID(node, "participant"))
	if d.Conn != nil {
		d.Conn.Send(ack)
	}
	switch types.ReceiptType(kind) {
	case types.ReceiptTypeRead, types.ReceiptTypePlayed:
		n.forwardReceipt(d, node, to)
		n.forwardToOwn(d, node, to)
		return
	case types.ReceiptTypeReadSelf, types.ReceiptTypePlayedSelf:
		n.forwardToOwn(d, node, to)
		return
	case types.ReceiptTypeServerError:
		n.askPhoneForMedia(d, node)
		return
	}
	n.acknowledgeMessages(d, node, to, kind)
	switch types.ReceiptType(kind) {
	case types.ReceiptTypeDelivered, types.ReceiptTypeInactive:
		n.forwardReceipt(d, node, to)
	case types.ReceiptTypeRetry:
		d.Count.RetryReceipts++
		n.forwardRetry(d, node, to)
	}
}

// acknowledgeMessages counts any receipt of delivery as the device's acknowledgement.
func (n *Server) acknowledgeMessages(d *people.Device, node *Node, to types.JID, kind string) {
	by := kind
	if by == "" {
		by = "delivery"
	}
	for _, id := range receiptIDs(node) {
		key := people.AckKey{Class: "message", ID: id, From: to, Participant: wire.JID(node, "participant")}
		n.Acknowledge(d, key, by, 0)
	}
}

func receiptIDs(node *Node) []string {
	ids := []string{wire.Text(node, "id")}
	if list, ok := wire.Child(node, "list"); ok {
		for _, item := range list.GetChildren() {
			ids = append(ids, wire.Text(&item, "id"))
		}
	}
	return ids
}

// receiptNode returns a receipt as another device gets it.
func receiptNode(node *Node, from types.JID, content any) Node {
	a := attrs{"from": from, "id": wire.Text(node, "id"), "t": wire.UnixNow()}
	wire.Set(a, "type", wire.Text(node, "type"))
	if t := wire.Text(node, "t"); t != "" {
		a["t"] = t
	}
	return Node{Tag: "receipt", Attrs: a, Content: content}
}

// listOf copies the further ids of a receipt for many messages.
func listOf(node *Node) any {
	if list, ok := wire.Child(node, "list"); ok {
		return []Node{*list}
	}
	return nil
}

// forwardReceipt forwards a receipt to the sender's devices. The participant is the sender in a group, the chat is in a direct one.
func (n *Server) forwardReceipt(d *people.Device, node *Node, to types.JID) {
	sender, inGroup := to, to.Server == types.GroupServer || to.Server == types.BroadcastServer
	if inGroup {
		sender = wire.JID(node, "participant")
	}
	a := n.AccountOf(sender)
	if a == nil || a == d.Account {
		return
	}
	reader := d.Address(sender.Server)
	if kind := wire.Text(node, "type"); kind == "read" || kind == "played" {
		// A person reads, not a device.
		reader = reader.ToNonAD()
	}
	for _, target := range a.Sorted() {
		forwarded := receiptNode(node, reader, listOf(node))
		if inGroup {
			forwarded.Attrs["from"], forwarded.Attrs["participant"] = to, reader
		}
		n.Push(target, forwarded)
	}
}

// forwardToOwn forwards a read receipt to the reader's other devices.
func (n *Server) forwardToOwn(d *people.Device, node *Node, to types.JID) {
	for _, target := range d.Account.Sorted() {
		if target == d {
			continue
		}
		if to.Server == types.GroupServer || to.Server == types.BroadcastServer {
			form := types.HiddenUserServer
			if g := n.Groups[to.User]; g != nil {
				form = g.Form()
			}
			own := receiptNode(node, to, listOf(node))
			own.Attrs["participant"] = d.Address(form)
			n.Push(target, own)
			continue
		}
		own := receiptNode(node, d.Address(to.Server), listOf(node))
		own.Attrs["recipient"] = to.ToNonAD()
		n.Push(target, own)
	}
}

// forwardRetry forwards a retry receipt to the device that sent the message.
func (n *Server) forwardRetry(d *people.Device, node *Node, to types.JID) {
	if to.Server == types.GroupServer || to.Server == types.BroadcastServer {
		sender := wire.JID(node, "participant")
		if target := n.DeviceOf(sender); target != nil {
			forwarded := receiptNode(node, to, node.Content)
			forwarded.Attrs["participant"], forwarded.Attrs["t"] = d.Address(sender.Server), wire.UnixNow()
			n.Push(target, forwarded)
		}
		return
	}
	target := n.DeviceOf(to)
	if target == nil {
		return
	}
	forwarded := receiptNode(node, d.Address(to.Server), node.Content)
	wire.Set(forwarded.Attrs, "recipient", wire.JID(node, "recipient"))
	wire.Set(forwarded.Attrs, "category", wire.Text(node, "category"))
	n.Push(target, forwarded)
}

// askPhoneForMedia forwards a request for media that the CDN has lost to the account's phone, which answers it.
func (n *Server) askPhoneForMedia(d *people.Device, node *Node) {
	if owner := d.Account.Owner; owner != nil && d.Number != 0 {
		owner.AskForMedia(d, node)
	}
}

// handleChatState forwards typing notices to phones, and to companions that are available. They are not queued for devices that are offline.
func (n *Server) handleChatState(d *people.Device, node *Node) {
	to := wire.JID(node, "to")
	if to.Server == types.GroupServer {
		g := n.Groups[to.User]
		if g == nil || g.Members[d.Account] == nil {
			return
		}
		for _, a := range g.Sorted() {
			if a != d.Account {
				sendToOnline(a, Node{Tag: "chatstate", Attrs: attrs{"from": to, "participant": d.Address(g.Form()).ToNonAD()}, Content: node.Content})
			}
		}
		return
	}
	if a := n.AccountOf(to); a != nil && a != d.Account {
		sendToOnline(a, Node{Tag: "chatstate", Attrs: attrs{"from": d.Account.Address(to.Server, 0)}, Content: node.Content})
	}
}

// sendToOnline sends a stanza to the devices of an account that are online and get typing notifications. It does not
// queue the stanza.
func sendToOnline(a *people.Account, node Node) {
	for _, d := range a.Sorted() {
		if d.Conn != nil && d.Active && d.SeesTyping() {
			d.Conn.Send(node)
		}
	}
}
