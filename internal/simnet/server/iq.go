package server

import (
	"maps"
	"slices"
	"strconv"

	"bridged/internal/simnet/wire"
)

// handleIQ handles a query. The caller holds mu.
func (n *Server) handleIQ(c *conn, node *Node) {
	kind := wire.Text(node, "type")
	if kind == "result" || kind == "error" {
		n.pairingAnswered(c, node)
		return
	}
	if c.device != nil {
		c.device.countQuery(wire.Text(node, "xmlns"))
		if n.limited(c.device, wire.Text(node, "xmlns")) {
			c.reply(node, wire.Refuse(429, "rate-overlimit"))
			return
		}
	}
	if fault := n.iqFault(c.device, node); fault != nil {
		switch {
		case fault.Silent:
			if fault.HangUp {
				c.HangUp()
			}
			return
		case fault.LoseAnswer && c.device != nil:
			c.mute = true
			n.answerPaired(c, c.device, node)
			c.mute = false
			if fault.HangUp {
				c.HangUp()
			}
			return
		}
		c.reply(node, wire.Refuse(fault.Code, fault.Text))
		return
	}
	if c.device == nil {
		n.answerUnpaired(c, node)
		return
	}
	n.answerPaired(c, c.device, node)
}

// answerPaired handles the queries that a linked device may make.
func (n *Server) answerPaired(c *conn, d *Device, node *Node) {
	set := wire.Text(node, "type") == "set"
	switch wire.Text(node, "xmlns") {
	case "w:p", "urn:xmpp:whatsapp:push", "urn:xmpp:whatsapp:dirty", "disappearing_mode":
		c.reply(node, wire.Result())
	case "abt":
		// The experiments that a client takes part in: none.
		c.reply(node, wire.Result(Node{Tag: "props", Attrs: attrs{"protocol": "1", "hash": "simulated", "refresh": "86400"}}))
	case "passive":
		c.reply(node, wire.Result())
		if _, active := wire.Child(node, "active"); active {
			n.activate(d)
		}
	case "encrypt":
		n.replyAboutKeys(c, node, n.answerKeys(d, node, set))
	case "usync":
		c.reply(node, n.answerUsync(d, node))
	case "w:m":
		c.reply(node, wire.Result(n.cdn.ConnectionNode()))
	case "w:g2":
		n.answerGroups(c, d, node)
	case "w:sync:app:state":
		c.reply(node, n.answerAppState(d, node))
	case "privacy":
		c.reply(node, n.answerPrivacy(d, node, set))
	case "status":
		c.reply(node, n.answerStatus(d, node, set))
	case "w:profile:picture":
		c.reply(node, n.answerPicture(d, node))
	case "blocklist":
		c.reply(node, n.answerBlocklist(d, node, set))
	case "md":
		n.answerCompanion(c, d, node)
	default:
		n.unknown["iq "+wire.Text(node, "xmlns")]++
		n.Log.Warnf("query not understood: %s", wire.Text(node, "xmlns"))
		c.reply(node, wire.Refuse(501, "feature-not-implemented"))
	}
}

// reply sends a client the answer to a query.
func (c *conn) reply(query *Node, a wire.Answer) {
	if !c.mute {
		c.Send(wire.AnswerNode(query, a))
	}
}

// Unknown counts what clients asked and the server did not understand, by kind of stanza or query.
func (n *Server) Unknown() map[string]int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return maps.Clone(n.unknown)
}

// answerCompanion handles a linked device's queries about the linking of devices.
func (n *Server) answerCompanion(c *conn, d *Device, node *Node) {
	remove, ok := wire.Child(node, "remove-companion-device")
	if !ok {
		c.reply(node, wire.Refuse(501, "feature-not-implemented"))
		return
	}
	target := n.DeviceOf(wire.JID(remove, "jid"))
	if target == nil || target.Account != d.Account || target.Number == 0 || d.Number != 0 && d != target {
		c.reply(node, wire.Forbidden)
		return
	}
	c.reply(node, wire.Result())
	if target == d {
		// With a stream error as well, whatsmeow would delete its store twice at the same time.
		n.forget(target)
		c.SendLast(Node{})
		return
	}
	n.unlink(target)
}

func defaultPrivacy() map[string]string {
	return map[string]string{
		"readreceipts": "all", "last": "all", "online": "all", "profile": "all", "status": "all",
		"groupadd": "all", "calladd": "all", "messages": "all", "defense": "off", "stickers": "contacts",
	}
}

func (n *Server) answerPrivacy(d *Device, node *Node, setting bool) wire.Answer {
	if tokens, ok := wire.Child(node, "tokens"); ok && setting {
		n.handTokens(d, tokens)
		return wire.Result()
	}
	if setting {
		settings, _ := wire.Child(node, "privacy")
		for _, category := range settings.GetChildren() {
			d.Account.privacy[wire.Text(&category, "name")] = wire.Text(&category, "value")
		}
		n.privacyChanged(d, settings.GetChildren())
	}
	var categories []Node
	for _, name := range slices.Sorted(maps.Keys(d.Account.privacy)) {
		categories = append(categories, Node{Tag: "category", Attrs: attrs{"name": name, "value": d.Account.privacy[name]}})
	}
	return wire.Result(Node{Tag: "privacy", Content: categories})
}

func (n *Server) answerStatus(d *Device, node *Node, setting bool) wire.Answer {
	if setting {
		d.Account.about = string(wire.ChildBytes(node, "status"))
		return wire.Result()
	}
	return wire.Result(Node{Tag: "privacy", Content: []Node{{Tag: "list", Attrs: attrs{"type": "contacts", "default": "true"}}}})
}

func (n *Server) answerBlocklist(d *Device, node *Node, setting bool) wire.Answer {
	if item, ok := wire.Child(node, "item"); ok && setting {
		if wire.Text(item, "action") == "block" {
			d.Account.blocked[wire.JID(item, "jid")] = struct{}{}
		} else {
			delete(d.Account.blocked, wire.JID(item, "jid"))
		}
	}
	list := Node{Tag: "list", Attrs: attrs{"dhash": strconv.Itoa(len(d.Account.blocked))}}
	var items []Node
	for jid := range d.Account.blocked {
		items = append(items, Node{Tag: "item", Attrs: attrs{"jid": jid}})
	}
	list.Content = items
	return wire.Result(list)
}
