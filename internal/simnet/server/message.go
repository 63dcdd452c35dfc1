package server

import (
	"strconv"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// handleMessage routes and acknowledges a device's message. The caller holds Directory.Mu.
func (n *Server) handleMessage(d *people.Device, node *Node) {
	d.Count.Sent++
	if isResend(node) {
		d.Count.Resent++
	}
	fault := d.Faults.NextSend()
	if fault.Code != 0 {
		d.Count.Rejected++
		n.ackMessage(d, node, "", fault)
		return
	}
	phash, code := n.route(d, node)
	if fault.Phash != "" {
		phash = fault.Phash
	}
	if code != 0 {
		d.Count.Rejected++
		fault = people.SendFault{Code: code}
	}
	n.ackMessage(d, node, phash, fault)
	n.Notify()
}

// route delivers a message. It returns the hash of the expected devices if the message went to others, and an error code if it was not
// delivered.
func (n *Server) route(d *people.Device, node *Node) (phash string, code int) {
	to := wire.JID(node, "to")
	switch {
	case wire.Text(node, "category") == "peer":
		return "", n.routePeer(d, node, to)
	case isResend(node):
		return "", n.routeResend(d, node, to)
	case to.Server == types.GroupServer:
		return n.routeGroup(d, node, to)
	case to == types.StatusBroadcastJID:
		return "", n.routeStatus(d, node)
	}
	return n.routeDirect(d, node, to)
}

// ackMessage acknowledges a message to its sender: at once, later or never, as the fault demands.
func (n *Server) ackMessage(d *people.Device, node *Node, phash string, fault people.SendFault) {
	if fault.LoseAck || d.Conn == nil || wire.Text(node, "device_fanout") == "false" {
		return
	}
	ack := Node{Tag: "ack", Attrs: attrs{"class": "message", "id": wire.Text(node, "id"), "from": wire.JID(node, "to"), "t": d.Account.TimeOf(node)}}
	wire.Set(ack.Attrs, "phash", phash)
	if fault.Code != 0 {
		ack.Attrs["error"] = strconv.Itoa(fault.Code)
	} else if chat := n.AccountOf(wire.JID(node, "to")); fault.RefreshLID || chat != nil && chat.Gone {
		ack.Attrs["refresh_lid"] = "true"
	}
	if delay := fault.AckDelay + n.slowness(node); delay > 0 {
		n.Later(d.Conn, delay, func(c *people.Client) { c.Send(ack) })
		return
	}
	d.Conn.Send(ack)
}

// isResend reports whether a message answers a retry receipt: it has one ciphertext for one device. In a group it may also list that device
// as a participant.
func isResend(node *Node) bool {
	participants, fanout := wire.Child(node, "participants")
	enc, direct := wire.Child(node, "enc")
	if fanout && (wire.Text(enc, "count") == "" || len(participants.GetChildren()) != 1) {
		return false
	}
	return direct && wire.Text(enc, "type") != "skmsg"
}

// addressed returns the ciphertexts of a fan-out by device. A note to oneself lists its devices twice, and the first entry counts.
func (n *Server) addressed(node *Node) map[*people.Device]*Node {
	participants, ok := wire.Child(node, "participants")
	if !ok {
		return nil
	}
	out := make(map[*people.Device]*Node)
	for _, to := range participants.GetChildren() {
		target := n.DeviceOf(wire.JID(&to, "jid"))
		enc, encrypted := wire.Child(&to, "enc")
		if target == nil || !encrypted || out[target] != nil {
			continue
		}
		out[target] = enc
	}
	return out
}

// routeDirect delivers a message to a contact's devices and the sender's other ones.
func (n *Server) routeDirect(d *people.Device, node *Node, to types.JID) (phash string, code int) {
	chat := n.AccountOf(to)
	if chat == nil {
		// A guess: the real server's codes for rejected messages are not known here.
		return "", 404
	}
	if !n.MayReach(d, chat, node) {
		return "", people.CodeReachout
	}
	if !n.MayBegin(d, chat, node) {
		return "", people.CodeCapped
	}
	form := d.Account.FormFor(node, to.Server)
	encs := n.addressed(node)
	_, blocked := chat.Blocked[d.Account.LID()]
	for _, target := range append(chat.Sorted(), d.Account.Sorted()...) {
		enc := encs[target]
		if enc == nil || target == d {
			continue
		}
		delete(encs, target)
		if (blocked || chat.Gone) && target.Account == chat {
			continue // the sender does not learn of it, or by the acknowledgement
		}
		n.Push(target, n.directNode(d, target, chat, form, node, *enc))
	}
	return n.directHash(d, chat, node, to), 0
}

// directHash returns the hash of the devices that should have been addressed, or "" if they were.
func (n *Server) directHash(d *people.Device, chat *people.Account, node *Node, to types.JID) string {
	if chat == d.Account {
		return ""
	}
	expected := append(chat.Addresses(to.Server), d.Account.Addresses(to.Server)...)
	sent := n.addressed(node)
	for _, jid := range expected {
		if target := n.DeviceOf(jid); target != d && sent[target] == nil {
			return wire.ParticipantHash(expected)
		}
	}
	if len(sent) > len(expected)-1 {
		return wire.ParticipantHash(expected)
	}
	return ""
}

// directNode returns a direct message as one device of either account gets it.
func (n *Server) directNode(d, target *people.Device, chat *people.Account, form string, node *Node, enc Node) Node {
	a := attrs{"from": d.Address(form), "id": wire.Text(node, "id"), "t": d.Account.TimeOf(node), "type": wire.Text(node, "type")}
	wire.Set(a, "edit", wire.Text(node, "edit"))
	wire.Set(a, "notify", d.Account.PushName)
	if target.Account == d.Account {
		a["recipient"] = chat.Address(form, 0)
		wire.Set(a, "peer_recipient_"+wire.ShortForm(wire.OtherForm(form)), chat.Alternative(form))
		wire.Set(a, "recipient_username", chat.Username)
	} else {
		wire.Set(a, "sender_"+wire.ShortForm(wire.OtherForm(form)), d.Account.Alternative(form))
		wire.Set(a, "username", d.Account.Username)
		if messenger := d.Account.Messenger; messenger != 0 {
			// A guess, after the form of such addresses in WhatsApp Web: nothing else names the person.
			a = attrs{"from": types.JID{User: d.Account.PhoneNumber, Integrator: messenger, Server: types.InteropServer}, "id": a["id"], "t": a["t"], "type": a["type"], "notify": d.Account.PushName}
		}
	}
	return Node{Tag: "message", Attrs: a, Content: contentFor(d, target, node, enc)}
}

// contentFor returns the children of a message for one device: its ciphertexts, the sender's identity if a session begins, and everything
// else not meant for the server.
func contentFor(d, target *people.Device, node *Node, encs ...Node) []Node {
	if hidden := d.Account.Wishes[wire.Text(node, "id")].Hidden; hidden != "" && target.Number != 0 {
		return []Node{{Tag: "unavailable", Attrs: attrs{"type": hidden}}}
	}
	content := append([]Node(nil), encs...)
	begins := false
	for _, enc := range encs {
		begins = begins || wire.Text(&enc, "type") == "pkmsg"
	}
	for _, part := range node.GetChildren() {
		switch part.Tag {
		case "participants", "enc", "tctoken", "cstoken":
		case "device-identity":
			// A phone's identity is the account's own and needs no signature.
			if begins && d.Number != 0 {
				content = append(content, part)
			}
		default:
			content = append(content, part)
		}
	}
	if d.Account.Business {
		content = append(content, verifiedName(d.Account))
	}
	return content
}

// routePeer delivers a message between the devices of one account: from a companion to the phone, or back.
func (n *Server) routePeer(d *people.Device, node *Node, to types.JID) int {
	target := n.DeviceOf(to)
	enc, ok := wire.Child(node, "enc")
	if target == nil || target.Account != d.Account || !ok {
		return 404
	}
	form := types.DefaultUserServer
	n.Push(target, Node{Tag: "message", Attrs: attrs{
		"from": d.Address(form), "id": wire.Text(node, "id"), "t": wire.UnixNow(), "type": wire.Text(node, "type"), "category": "peer",
	}, Content: contentFor(d, target, node, *enc)})
	return 0
}

// routeResend delivers the answer to a retry receipt to the device that asked.
func (n *Server) routeResend(d *people.Device, node *Node, to types.JID) int {
	enc, _ := wire.Child(node, "enc")
	if to.Server == types.GroupServer || to.Server == types.BroadcastServer {
		participant := resentTo(node)
		target := n.DeviceOf(participant)
		if target == nil {
			return 404
		}
		n.Push(target, n.groupNode(d, target, to, participant.Server, node, *enc))
		return 0
	}
	target := n.DeviceOf(to)
	if target == nil {
		return 404
	}
	chat := target.Account
	if recipient := wire.JID(node, "recipient"); !recipient.IsEmpty() {
		if named := n.AccountOf(recipient); named != nil {
			chat = named
		}
	}
	n.Push(target, n.directNode(d, target, chat, d.Account.FormFor(node, to.Server), node, *enc))
	return 0
}

// resentTo returns the device that an answer to a group's retry receipt names, in an attribute or as its only participant.
func resentTo(node *Node) types.JID {
	if named := wire.JID(node, "participant"); !named.IsEmpty() {
		return named
	}
	only, _ := wire.Child(node, "participants", "to")
	return wire.JID(only, "jid")
}

// groupNode returns a group message as one device gets it.
func (n *Server) groupNode(d, target *people.Device, chat types.JID, form string, node *Node, encs ...Node) Node {
	if g := n.Groups[chat.User]; g != nil && chat.Server == types.GroupServer {
		form = g.Form()
	}
	a := attrs{"from": chat, "participant": d.Address(form), "id": wire.Text(node, "id"), "t": d.Account.TimeOf(node), "type": wire.Text(node, "type")}
	wire.Set(a, "edit", wire.Text(node, "edit"))
	wire.Set(a, "notify", d.Account.PushName)
	wire.Set(a, "participant_"+wire.ShortForm(wire.OtherForm(form)), d.Account.Alternative(form))
	wire.Set(a, "participant_username", d.Account.Username)
	if chat.Server == types.GroupServer {
		a["addressing_mode"] = wire.ShortForm(form)
	}
	return Node{Tag: "message", Attrs: a, Content: contentFor(d, target, node, encs...)}
}

// routeGroup delivers a message to all devices of all members. A device without a ciphertext of its own gets only the group's, and will send
// a retry receipt.
func (n *Server) routeGroup(d *people.Device, node *Node, to types.JID) (phash string, code int) {
	g := n.Groups[to.User]
	if g == nil {
		return "", 404
	}
	member := g.Members[d.Account]
	if member == nil || g.Parent || g.Announce && !member.IsAdmin() && !g.MayAnswer(node) {
		return "", 403
	}
	if byLID := wire.Text(node, "addressing_mode") == "lid"; byLID != g.LidMode {
		return "", 421
	}
	common, ok := childOfType(node, "enc", "skmsg")
	if !ok {
		return "", 400
	}
	encs := n.addressed(node)
	var expected []types.JID
	for _, a := range g.Sorted() {
		expected = append(expected, a.Addresses(g.Form())...)
		for _, target := range a.Sorted() {
			if target == d {
				continue
			}
			own := []Node{*common}
			if enc := encs[target]; enc != nil {
				own = []Node{*enc, *common}
			}
			n.Push(target, n.groupNode(d, target, to, g.Form(), node, own...))
		}
	}
	if hash := wire.ParticipantHash(expected); hash != wire.Text(node, "phash") {
		return hash, 0
	}
	return "", 0
}

func childOfType(node *Node, tag, kind string) (*Node, bool) {
	for _, part := range node.GetChildren() {
		if part.Tag == tag && wire.Text(&part, "type") == kind {
			return &part, true
		}
	}
	return nil, false
}

// routeStatus delivers a status update to the devices that the sender encrypted it for.
func (n *Server) routeStatus(d *people.Device, node *Node) int {
	common, ok := childOfType(node, "enc", "skmsg")
	if !ok {
		return 400
	}
	for target, enc := range n.addressed(node) {
		if target == d {
			continue
		}
		n.Push(target, n.groupNode(d, target, types.StatusBroadcastJID, types.DefaultUserServer, node, *enc, *common))
	}
	return 0
}
