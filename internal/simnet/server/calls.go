package server

import (
	"maps"
	"slices"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// call is a telephone call that is not over. Directory.Mu guards it.
type call struct {
	id      string
	caller  *people.Device
	group   types.JID // empty in a direct call
	video   bool
	callees []*people.Account        // without those who have rejected it
	taken   map[*people.Account]bool // accounts that have accepted it
}

// handleCall handles and acknowledges a device's stanza about a call.
func (n *Server) handleCall(d *people.Device, node *Node) {
	children, code := node.GetChildren(), "400"
	if len(children) == 1 {
		code = n.passCallOn(d, wire.JID(node, "to"), &children[0])
	}
	if d.Conn == nil || d.Faults.SilentCalls {
		return
	}
	ack := Node{Tag: "ack", Attrs: attrs{"class": "call", "id": wire.Text(node, "id"), "from": wire.JID(node, "to"), "t": wire.UnixNow()}}
	wire.Set(ack.Attrs, "error", code)
	d.Conn.Send(ack)
}

// passCallOn handles a device's stanza about a call and returns the code of its refusal. The real server's codes are not known.
func (n *Server) passCallOn(d *people.Device, to types.JID, said *Node) (code string) {
	id := wire.Text(said, "call-id")
	switch c := n.calls[id]; {
	case said.Tag == "offer" && c == nil:
		return n.ring(d, to, id, said)
	case c == nil:
		return "404"
	case said.Tag == "terminate" && c.caller.Account == d.Account:
		n.endCall(c, wire.Text(said, "reason"))
	case !slices.Contains(c.callees, d.Account) || c.taken[d.Account]:
		return "404"
	case said.Tag == "accept", said.Tag == "reject":
		n.answerCall(c, d, said)
	}
	return ""
}

// ring begins a call to a person or to the members of a group. Phones of group members get the offer; their companions get a notice that does
// not name the group (captured in whatsapp-rust, pull request 599).
func (n *Server) ring(d *people.Device, to types.JID, id string, offer *Node) string {
	_, video := wire.Child(offer, "video")
	c := &call{id: id, caller: d, video: video, taken: make(map[*people.Account]bool)}
	if g := n.Groups[to.User]; to.Server == types.GroupServer && g != nil && g.Members[d.Account] != nil {
		c.group, c.callees = to, slices.Clone(g.Sorted())
	} else if callee := n.AccountOf(to); callee != nil {
		c.callees = []*people.Account{callee}
	}
	c.leave(d.Account)
	if len(c.callees) == 0 {
		return "404"
	}
	n.calls[id] = c
	for _, target := range c.devices() {
		n.Push(target, c.stanza(n, c.said(target, *offer)))
	}
	return ""
}

// leave removes an account from a call.
func (c *call) leave(who *people.Account) {
	c.callees = slices.DeleteFunc(c.callees, func(a *people.Account) bool { return a == who })
}

// devices returns the devices of all callees.
func (c *call) devices() (all []*people.Device) {
	for _, callee := range c.callees {
		all = append(all, callee.Sorted()...)
	}
	return all
}

// said returns the offer as one device gets it.
func (c *call) said(target *people.Device, offer Node) Node {
	a := maps.Clone(offer.Attrs)
	wire.Set(a, "caller_pn", c.caller.Account.Alternative(types.HiddenUserServer))
	if c.group.IsEmpty() {
		return Node{Tag: "offer", Attrs: a, Content: offer.Content}
	}
	a["type"] = "group"
	if target.Number == 0 {
		a["group-jid"] = c.group
		return Node{Tag: "offer", Attrs: a, Content: offer.Content}
	}
	a["media"] = wire.Either(c.video, "video", "audio")
	return Node{Tag: "offer_notice", Attrs: a}
}

// stanza returns a stanza of the caller's device for the callees.
func (c *call) stanza(n *Server, said Node) Node {
	return Node{Tag: "call", Attrs: attrs{
		"from": c.caller.Address(types.HiddenUserServer), "id": n.NextID(), "t": wire.UnixNow(), "platform": "android", "version": "2.26.38",
	}, Content: []Node{said}}
}

// endCall ends a call with the caller's reason.
func (n *Server) endCall(c *call, reason string) {
	delete(n.calls, c.id)
	for _, target := range c.devices() {
		n.Push(target, c.stanza(n, c.terminate(reason)))
	}
}

func (c *call) terminate(reason string) Node {
	out := Node{Tag: "terminate", Attrs: attrs{"call-id": c.id, "call-creator": c.caller.Account.LID()}}
	wire.Set(out.Attrs, "reason", reason)
	return out
}

// answerCall forwards an answer to the caller and stops the ringing on the answering account's other devices.
func (n *Server) answerCall(c *call, by *people.Device, said *Node) {
	n.Push(c.caller, Node{Tag: "call", Attrs: attrs{"from": by.Address(types.HiddenUserServer), "id": n.NextID(), "t": wire.UnixNow()}, Content: []Node{*said}})
	for _, other := range by.Account.Sorted() {
		if other != by {
			n.Push(other, c.stanza(n, c.terminate(said.Tag+"ed_elsewhere")))
		}
	}
	if said.Tag == "accept" {
		c.taken[by.Account] = true
		return
	}
	if c.leave(by.Account); len(c.callees) == 0 {
		delete(n.calls, c.id)
	}
}
