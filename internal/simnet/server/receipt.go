package server

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// handleReceipt takes what a device says about messages: that it has them, that a person read them, that they should come again.
func (n *Server) handleReceipt(d *Device, node *Node) {
	kind, to := wire.Text(node, "type"), wire.JID(node, "to")
	ack := Node{Tag: "ack", Attrs: attrs{"class": "receipt", "id": wire.Text(node, "id"), "from": to}}
	wire.Set(ack.Attrs, "type", kind)
	wire.Set(ack.Attrs, "participant", wire.JID(node, "participant"))
	if d.conn != nil {
		d.conn.Send(ack)
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
		d.counters.RetryReceipts++
		n.forwardRetry(d, node, to)
	}
}

// acknowledgeMessages counts a receipt of any kind of delivery as the device's acknowledgement.
func (n *Server) acknowledgeMessages(d *Device, node *Node, to types.JID, kind string) {
	by := kind
	if by == "" {
		by = "delivery"
	}
	for _, id := range receiptIDs(node) {
		key := ackKey{class: "message", id: id, from: to, participant: wire.JID(node, "participant")}
		n.acknowledge(d, key, by, 0)
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

// listOf repeats the further ids of a receipt for many messages.
func listOf(node *Node) any {
	if list, ok := wire.Child(node, "list"); ok {
		return []Node{*list}
	}
	return nil
}

// forwardReceipt passes a receipt to the sender's devices. In a group the participant is the sender, between two it is the chat.
func (n *Server) forwardReceipt(d *Device, node *Node, to types.JID) {
	sender, inGroup := to, to.Server == types.GroupServer || to.Server == types.BroadcastServer
	if inGroup {
		sender = wire.JID(node, "participant")
	}
	a := n.AccountOf(sender)
	if a == nil || a == d.Account {
		return
	}
	reader := d.jid(sender.Server)
	if kind := wire.Text(node, "type"); kind == "read" || kind == "played" {
		// Who read is a person, not a device.
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

// forwardToOwn passes a read receipt to the reader's other devices.
func (n *Server) forwardToOwn(d *Device, node *Node, to types.JID) {
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
			own.Attrs["participant"] = d.jid(form)
			n.Push(target, own)
			continue
		}
		own := receiptNode(node, d.jid(to.Server), listOf(node))
		own.Attrs["recipient"] = to.ToNonAD()
		n.Push(target, own)
	}
}

// forwardRetry hands a request to send something again to the one device that sent it.
func (n *Server) forwardRetry(d *Device, node *Node, to types.JID) {
	if to.Server == types.GroupServer || to.Server == types.BroadcastServer {
		sender := wire.JID(node, "participant")
		if target := n.DeviceOf(sender); target != nil {
			forwarded := receiptNode(node, to, node.Content)
			forwarded.Attrs["participant"], forwarded.Attrs["t"] = d.jid(sender.Server), wire.UnixNow()
			n.Push(target, forwarded)
		}
		return
	}
	target := n.DeviceOf(to)
	if target == nil {
		return
	}
	forwarded := receiptNode(node, d.jid(to.Server), node.Content)
	wire.Set(forwarded.Attrs, "recipient", wire.JID(node, "recipient"))
	wire.Set(forwarded.Attrs, "category", wire.Text(node, "category"))
	n.Push(target, forwarded)
}

// askPhoneForMedia passes a request for media that the CDN has lost to the account's phone, which answers it.
func (n *Server) askPhoneForMedia(d *Device, node *Node) {
	if owner := d.Account.Owner; owner != nil && d.Number != 0 {
		owner.AskForMedia(d, node)
	}
}

// handleChatState forwards typing notices. They are not kept for devices that are offline.
func (n *Server) handleChatState(d *Device, node *Node) {
	to := wire.JID(node, "to")
	if to.Server == types.GroupServer {
		g := n.Groups[to.User]
		if g == nil || g.Members[d.Account] == nil {
			return
		}
		for _, a := range g.Sorted() {
			if a != d.Account {
				n.pass(a, Node{Tag: "chatstate", Attrs: attrs{"from": to, "participant": d.jid(g.Form()).ToNonAD()}, Content: node.Content})
			}
		}
		return
	}
	if a := n.AccountOf(to); a != nil && a != d.Account {
		n.pass(a, Node{Tag: "chatstate", Attrs: attrs{"from": d.Account.Address(to.Server, 0)}, Content: node.Content})
	}
}

// pass gives a passing remark to those devices of an account that are there.
func (n *Server) pass(a *Account, node Node) {
	for _, d := range a.Sorted() {
		if d.conn != nil && d.Active {
			d.conn.Send(node)
		}
	}
}

// handlePresence forwards presence to subscribers, and handles subscriptions.
func (n *Server) handlePresence(d *Device, node *Node) {
	switch kind := wire.Text(node, "type"); kind {
	case "subscribe":
		if d.watching == nil {
			d.watching = make(map[types.JID]struct{})
		}
		d.watching[wire.JID(node, "to").ToNonAD()] = struct{}{}
	case "available", "unavailable":
		d.available = kind == "available"
		n.announcePresence(d.Account)
	}
}

// announcePresence tells those who watch an account whether one of its devices is available.
func (n *Server) announcePresence(a *Account) {
	available := false
	for _, d := range a.Sorted() {
		available = available || d.available
	}
	for _, watcher := range n.watchers(a) {
		form := types.DefaultUserServer
		if _, byLID := watcher.watching[a.LID()]; byLID {
			form = types.HiddenUserServer
		}
		presence := Node{Tag: "presence", Attrs: attrs{"from": a.Address(form, 0)}}
		if !available {
			presence.Attrs["type"], presence.Attrs["last"] = "unavailable", wire.UnixNow()
		}
		if watcher.conn != nil && watcher.Active {
			watcher.conn.Send(presence)
		}
	}
}

// goneUnavailable notes that a device's connection is over, with which it is no longer available. The caller holds mu.
func (n *Server) goneUnavailable(d *Device) {
	if d.available {
		d.available = false
		n.announcePresence(d.Account)
	}
}
