package simnet

import (
	"maps"
	"slices"
	"strconv"

	"go.mau.fi/whatsmeow/types"
)

// answer is what the server says to a query: the content of a result, or an error.
type answer struct {
	content any
	code    int
	text    string
}

func result(content ...Node) answer {
	if len(content) == 0 {
		return answer{}
	}
	return answer{content: content}
}

func refuse(code int, text string) answer { return answer{code: code, text: text} }

var (
	badRequest   = refuse(400, "bad-request")
	forbidden    = refuse(403, "forbidden")
	itemNotFound = refuse(404, "item-not-found")

	notAuthorized = refuse(401, "not-authorized")
	notAllowed    = refuse(405, "not-allowed")
	notAcceptable = refuse(406, "not-acceptable")
	conflict      = refuse(409, "conflict")
	gone          = refuse(410, "gone")
)

// handleIQ handles a query. The caller holds mu.
func (n *Network) handleIQ(c *conn, node *Node) {
	kind := text(node, "type")
	if kind == "result" || kind == "error" {
		n.pairingAnswered(c, node)
		return
	}
	if c.device != nil {
		c.device.countQuery(text(node, "xmlns"))
		if n.limited(c.device, text(node, "xmlns")) {
			c.reply(node, refuse(429, "rate-overlimit"))
			return
		}
	}
	if fault := n.iqFault(c.device, node); fault != nil {
		switch {
		case fault.Silent:
			if fault.HangUp {
				c.hangUp()
			}
			return
		case fault.LoseAnswer && c.device != nil:
			c.mute = true
			n.answerPaired(c, c.device, node)
			c.mute = false
			if fault.HangUp {
				c.hangUp()
			}
			return
		}
		c.reply(node, refuse(fault.Code, fault.Text))
		return
	}
	if c.device == nil {
		n.answerUnpaired(c, node)
		return
	}
	n.answerPaired(c, c.device, node)
}

// answerPaired handles the queries that a linked device may make.
func (n *Network) answerPaired(c *conn, d *Device, node *Node) {
	set := text(node, "type") == "set"
	switch text(node, "xmlns") {
	case "w:p", "urn:xmpp:whatsapp:push", "urn:xmpp:whatsapp:dirty", "disappearing_mode":
		c.reply(node, result())
	case "abt":
		// The experiments that a client takes part in: none.
		c.reply(node, result(Node{Tag: "props", Attrs: attrs{"protocol": "1", "hash": "simulated", "refresh": "86400"}}))
	case "passive":
		c.reply(node, result())
		if _, active := child(node, "active"); active {
			n.activate(d)
		}
	case "encrypt":
		n.replyAboutKeys(c, node, n.answerKeys(d, node, set))
	case "usync":
		c.reply(node, n.answerUsync(d, node))
	case "w:m":
		c.reply(node, result(n.cdn.connectionNode()))
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
		n.unknown["iq "+text(node, "xmlns")]++
		n.log.Warnf("query not understood: %s", text(node, "xmlns"))
		c.reply(node, refuse(501, "feature-not-implemented"))
	}
}

// reply sends a client the answer to a query.
func (c *conn) reply(query *Node, a answer) {
	if !c.mute {
		c.send(answerNode(query, a))
	}
}

// answerNode returns the stanza that answers a query.
func answerNode(query *Node, a answer) Node {
	from, asked := query.Attrs["to"].(types.JID)
	if !asked {
		from = types.ServerJID
	}
	out := Node{Tag: "iq", Attrs: attrs{"from": from, "type": "result"}, Content: a.content}
	set(out.Attrs, "id", text(query, "id"))
	if a.code != 0 {
		out.Attrs["type"] = "error"
		out.Content = []Node{{Tag: "error", Attrs: attrs{"code": strconv.Itoa(a.code), "text": a.text}}}
	}
	return out
}

// Unknown counts what clients asked and the server did not understand, by kind of stanza or query.
func (n *Network) Unknown() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.unknown)
}

// answerCompanion handles a linked device's queries about the linking of devices.
func (n *Network) answerCompanion(c *conn, d *Device, node *Node) {
	remove, ok := child(node, "remove-companion-device")
	if !ok {
		c.reply(node, refuse(501, "feature-not-implemented"))
		return
	}
	target := n.device(jidOf(remove, "jid"))
	if target == nil || target.account != d.account || target.number == 0 || d.number != 0 && d != target {
		c.reply(node, forbidden)
		return
	}
	c.reply(node, result())
	if target == d {
		// With a stream error as well, whatsmeow would delete its store twice at the same time.
		n.forget(target)
		c.sendLast(Node{})
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

func (n *Network) answerPrivacy(d *Device, node *Node, setting bool) answer {
	if tokens, ok := child(node, "tokens"); ok && setting {
		n.handTokens(d, tokens)
		return result()
	}
	if setting {
		settings, _ := child(node, "privacy")
		for _, category := range settings.GetChildren() {
			d.account.privacy[text(&category, "name")] = text(&category, "value")
		}
		n.privacyChanged(d, settings.GetChildren())
	}
	var categories []Node
	for _, name := range slices.Sorted(maps.Keys(d.account.privacy)) {
		categories = append(categories, Node{Tag: "category", Attrs: attrs{"name": name, "value": d.account.privacy[name]}})
	}
	return result(Node{Tag: "privacy", Content: categories})
}

func (n *Network) answerStatus(d *Device, node *Node, setting bool) answer {
	if setting {
		d.account.about = string(childBytes(node, "status"))
		return result()
	}
	return result(Node{Tag: "privacy", Content: []Node{{Tag: "list", Attrs: attrs{"type": "contacts", "default": "true"}}}})
}

func (n *Network) answerBlocklist(d *Device, node *Node, setting bool) answer {
	if item, ok := child(node, "item"); ok && setting {
		if text(item, "action") == "block" {
			d.account.blocked[jidOf(item, "jid")] = struct{}{}
		} else {
			delete(d.account.blocked, jidOf(item, "jid"))
		}
	}
	list := Node{Tag: "list", Attrs: attrs{"dhash": strconv.Itoa(len(d.account.blocked))}}
	var items []Node
	for jid := range d.account.blocked {
		items = append(items, Node{Tag: "item", Attrs: attrs{"jid": jid}})
	}
	list.Content = items
	return result(list)
}
