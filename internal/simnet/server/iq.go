package server

import (
	"maps"
	"slices"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// handleIQ handles a query. The caller holds Directory.Mu.
func (n *Server) handleIQ(c *people.Client, node *Node) {
	kind := wire.Text(node, "type")
	if kind == "result" || kind == "error" {
		n.PairingAnswered(c, node)
		return
	}
	if c.Device != nil {
		c.Device.CountQuery(wire.Text(node, "xmlns"))
		if n.Limited(c.Device, wire.Text(node, "xmlns")) {
			c.Reply(node, wire.Refuse(429, "rate-overlimit"))
			return
		}
	}
	if fault := n.FaultFor(c.Device, node); fault != nil {
		switch {
		case fault.Silent:
			if fault.HangUp {
				c.HangUp()
			}
			return
		case fault.LoseAnswer && c.Device != nil:
			c.Mute = true
			n.answerPaired(c, c.Device, node)
			c.Mute = false
			if fault.HangUp {
				c.HangUp()
			}
			return
		}
		c.Reply(node, wire.Refuse(fault.Code, fault.Text))
		return
	}
	if c.Device == nil {
		n.AnswerUnpaired(c, node)
		return
	}
	n.answerPaired(c, c.Device, node)
}

// answerPaired handles the queries that a linked device may make.
func (n *Server) answerPaired(c *people.Client, d *people.Device, node *Node) {
	set := wire.Text(node, "type") == "set"
	switch wire.Text(node, "xmlns") {
	case "urn:xmpp:whatsapp:dirty":
		c.Reply(node, d.AnswerDirty(node))
	case "w:p", "urn:xmpp:whatsapp:push", "disappearing_mode":
		c.Reply(node, wire.Result())
	case "abt":
		// Clients take part in no experiments.
		c.Reply(node, wire.Result(Node{Tag: "props", Attrs: attrs{"protocol": "1", "hash": "simulated", "refresh": "86400"}}))
	case "passive":
		c.Reply(node, wire.Result())
		if _, active := wire.Child(node, "active"); active {
			n.activate(d)
		}
	case "encrypt":
		n.replyAboutKeys(c, node, n.AnswerKeys(d, node, set))
	case "usync":
		c.Reply(node, n.answerUsync(d, node))
	case "w:m":
		c.Reply(node, wire.Result(n.CDN().ConnectionNode()))
	case "w:g2":
		c.Reply(node, n.AnswerGroups(d, node))
	case "w:sync:app:state":
		c.Reply(node, n.AnswerAppState(d, node))
	case "privacy":
		c.Reply(node, n.answerPrivacy(d, node, set))
	case "status":
		c.Reply(node, n.answerStatus(d, node, set))
	case "w:profile:picture":
		c.Reply(node, n.answerPicture(d, node, set))
	case "blocklist":
		c.Reply(node, n.answerBlocklist(d, node, set))
	case "md":
		n.answerCompanion(c, d, node)
	case "w:mex":
		c.Reply(node, n.answerMex(d, node))
	case "w:biz":
		c.Reply(node, n.answerBusiness(node))
	default:
		n.unknown["iq "+wire.Text(node, "xmlns")]++
		n.Log.Warnf("query not understood: %s", wire.Text(node, "xmlns"))
		c.Reply(node, wire.Refuse(501, "feature-not-implemented"))
	}
}

// answerMex answers GraphQL queries, by their id.
func (n *Server) answerMex(d *people.Device, node *Node) wire.Answer {
	query, _ := wire.Child(node, "query")
	switch id := wire.Text(query, "query_id"); id {
	case people.CappingQuery:
		return wire.Result(Node{Tag: "result", Content: d.Account.AnswerCapping()})
	case people.AboutMutation:
		return n.AnswerAbout(d.Account, wire.Bytes(*query))
	default:
		n.unknown["query "+id]++
		return wire.Refuse(400, "bad-request")
	}
}

// answerBusiness returns the profile of a business.
func (n *Server) answerBusiness(node *Node) wire.Answer {
	request, _ := wire.Child(node, "business_profile")
	asked, ok := wire.Child(request, "profile")
	if !ok {
		return wire.BadRequest
	}
	a := n.AccountOf(wire.JID(asked, "jid"))
	if a == nil || !a.Business {
		return wire.ItemNotFound
	}
	return wire.Result(a.BusinessNode(asked.Attrs["jid"]))
}

// Unknown counts the stanzas and queries that the server did not understand, by kind.
func (n *Server) Unknown() map[string]int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return maps.Clone(n.unknown)
}

// answerCompanion handles a linked device's queries about linking devices.
func (n *Server) answerCompanion(c *people.Client, d *people.Device, node *Node) {
	remove, ok := wire.Child(node, "remove-companion-device")
	if !ok {
		c.Reply(node, wire.Refuse(501, "feature-not-implemented"))
		return
	}
	target := n.DeviceOf(wire.JID(remove, "jid"))
	if target == nil || target.Account != d.Account || target.Number == 0 || d.Number != 0 && d != target {
		c.Reply(node, wire.Forbidden)
		return
	}
	c.Reply(node, wire.Result())
	if target == d {
		// With a stream error as well, whatsmeow would delete its store twice at the same time.
		n.Forget(target)
		c.SendLast(Node{})
		return
	}
	n.Unlink(target)
}

func (n *Server) answerPrivacy(d *people.Device, node *Node, setting bool) wire.Answer {
	if tokens, ok := wire.Child(node, "tokens"); ok && setting {
		n.HandTokens(d, tokens)
		return wire.Result()
	}
	if setting {
		settings, _ := wire.Child(node, "privacy")
		for _, category := range settings.GetChildren() {
			d.Account.Privacy[wire.Text(&category, "name")] = wire.Text(&category, "value")
		}
		n.accountChanged(d, Node{Tag: "privacy", Content: settings.GetChildren()})
	}
	var categories []Node
	for _, name := range slices.Sorted(maps.Keys(d.Account.Privacy)) {
		categories = append(categories, Node{Tag: "category", Attrs: attrs{"name": name, "value": d.Account.Privacy[name]}})
	}
	return wire.Result(Node{Tag: "privacy", Content: categories})
}

func (n *Server) answerStatus(d *people.Device, node *Node, setting bool) wire.Answer {
	if setting {
		d.Account.About = string(wire.ChildBytes(node, "status"))
		return wire.Result()
	}
	return wire.Result(Node{Tag: "privacy", Content: []Node{{Tag: "list", Attrs: attrs{"type": "contacts", "default": "true"}}}})
}

// accountChanged notifies the account's other devices of changed settings. The caller holds Directory.Mu.
func (n *Server) accountChanged(d *people.Device, change Node) {
	for _, other := range d.Account.Sorted() {
		if other == d {
			continue
		}
		n.Push(other, Node{Tag: "notification", Attrs: attrs{
			"from": d.Account.PN(), "type": "account_sync", "id": n.NextID(), "t": wire.UnixNow(),
		}, Content: []Node{change}})
	}
}
