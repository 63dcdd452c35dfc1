package simnet

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// answerGroups handles a w:g2 query to one group, or to the group server.
func (n *Network) answerGroups(c *conn, d *Device, node *Node) {
	to := jidOf(node, "to")
	children := node.GetChildren()
	if len(children) == 0 {
		c.reply(node, badRequest)
		return
	}
	request := &children[0]
	if to.User == "" {
		c.reply(node, n.answerGroupServer(d, request))
		return
	}
	g := n.groups[to.User]
	switch {
	case g == nil:
		c.reply(node, itemNotFound)
	case g.members[d.account] == nil:
		c.reply(node, forbidden)
	case request.Tag == "query":
		c.reply(node, result(g.node()))
	default:
		c.reply(node, n.changeGroup(g, d.account, request))
	}
}

// answerGroupServer handles the queries that do not concern a group of the account's.
func (n *Network) answerGroupServer(d *Device, request *Node) answer {
	switch request.Tag {
	case "participating":
		var groups []Node
		for _, g := range n.groupsOf(d.account) {
			groups = append(groups, g.node())
		}
		return result(Node{Tag: "groups", Content: groups})
	case "create":
		return n.createGroup(d.account, request)
	case "leave":
		for _, left := range request.GetChildren() {
			g := n.groups[jidOf(&left, "id").User]
			if g == nil || g.members[d.account] == nil {
				return itemNotFound
			}
			n.removeMembers(g, d.account, []*account{d.account})
		}
		return result(Node{Tag: "leave", Content: request.Content})
	case "invite":
		return n.joinByInvite(d.account, text(request, "code"))
	}
	return refuse(501, "feature-not-implemented")
}

func (n *Network) createGroup(creator *account, request *Node) answer {
	var members []*account
	for _, participant := range request.GetChildrenByTag("participant") {
		if a := n.account(jidOf(&participant, "jid")); a != nil {
			members = append(members, a)
		}
	}
	g := n.newGroup(creator, "", text(request, "subject"), true, members)
	_, g.announce = child(request, "announcement")
	_, g.locked = child(request, "locked")
	if ephemeral, ok := child(request, "ephemeral"); ok {
		g.ephemeral = parseSeconds(text(ephemeral, "expiration"))
	}
	n.announceBirth(g, creator, text(request, "key"), g.sorted()...)
	return result(g.node())
}

func parseSeconds(s string) uint32 {
	seconds, _ := strconv.ParseUint(s, 10, 32)
	return uint32(seconds)
}

func (n *Network) joinByInvite(a *account, code string) answer {
	for _, g := range n.groups {
		if g.invite == "" || g.invite != code {
			continue
		}
		if g.members[a] == nil {
			n.addMembers(g, a, []*account{a}, "invite")
		}
		node := g.node()
		node.Attrs["jid"] = g.jid()
		return result(node)
	}
	return refuse(406, "not-acceptable")
}

// changeGroup makes a change that a member asks for, if the member may.
func (n *Network) changeGroup(g *group, by *account, request *Node) answer {
	mayManage := g.members[by].isAdmin()
	mayEdit := mayManage || !g.locked
	switch request.Tag {
	case "add", "remove", "promote", "demote":
		if !mayManage {
			return forbidden
		}
		return n.changeMembers(g, by, request)
	case "invite":
		return n.inviteCode(g, mayManage)
	case "subject", "description", "ephemeral", "not_ephemeral":
		if !mayEdit {
			return forbidden
		}
	case "announcement", "not_announcement", "locked", "unlocked":
		if !mayManage {
			return forbidden
		}
	default:
		return refuse(501, "feature-not-implemented")
	}
	change, ok := g.apply(by, request)
	if !ok {
		return refuse(409, "conflict")
	}
	n.announceChange(g, by, change)
	return result()
}

// apply changes a setting and returns the change to announce.
func (g *group) apply(by *account, request *Node) (change Node, ok bool) {
	change = Node{Tag: request.Tag, Attrs: attrs{}}
	switch request.Tag {
	case "subject":
		g.subject, g.subjectAt, g.subjectBy = string(bytesOf(*request)), time.Now(), by
		change.Attrs = attrs{"subject": g.subject, "s_t": unixNow(), "s_o": by.jid(g.form(), 0)}
	case "description":
		return g.describe(by, request)
	case "announcement", "not_announcement":
		g.announce = request.Tag == "announcement"
		change.Attrs = g.bump()
	case "locked", "unlocked":
		g.locked = request.Tag == "locked"
	case "ephemeral":
		g.ephemeral = parseSeconds(text(request, "expiration"))
		change.Attrs["expiration"] = strconv.Itoa(int(g.ephemeral))
	case "not_ephemeral":
		g.ephemeral = 0
	}
	return change, true
}

// describe changes the description, unless another member has changed it since.
func (g *group) describe(by *account, request *Node) (change Node, ok bool) {
	if prev := text(request, "prev"); prev != "" && prev != g.topicID {
		return Node{}, false
	}
	g.topic, g.topicID, g.topicAt, g.topicBy = string(childBytes(request, "body")), text(request, "id"), time.Now(), by
	if g.topicID == "" {
		g.topicID = strings.ToUpper(hex.EncodeToString(randomBytes(8)))
	}
	change = Node{Tag: "description", Attrs: attrs{"id": g.topicID}}
	if g.topic == "" {
		change.Content = []Node{{Tag: "delete"}}
		return change, true
	}
	change.Content = []Node{{Tag: "body", Content: []byte(g.topic)}}
	return change, true
}

func (n *Network) inviteCode(g *group, mayManage bool) answer {
	if !mayManage {
		return refuse(401, "not-authorized")
	}
	if g.invite == "" {
		g.invite = hex.EncodeToString(randomBytes(11))
	}
	return result(Node{Tag: "invite", Attrs: attrs{"code": g.invite}})
}

// changeMembers applies a change of members. Its answer has the request's tag, and one entry for each member named.
func (n *Network) changeMembers(g *group, by *account, request *Node) answer {
	var named []*account
	var entries []Node
	for _, participant := range request.GetChildren() {
		jid := jidOf(&participant, "jid")
		a := n.account(jid)
		if a == nil {
			entries = append(entries, Node{Tag: "participant", Attrs: attrs{"jid": jid, "error": "404"}})
			continue
		}
		entries = append(entries, Node{Tag: "participant", Attrs: attrs{"jid": jid}})
		named = append(named, a)
	}
	n.applyMembers(g, by, request.Tag, named)
	return result(Node{Tag: request.Tag, Content: entries})
}

func (n *Network) applyMembers(g *group, by *account, change string, named []*account) {
	switch change {
	case "add":
		n.addMembers(g, by, named, "")
	case "remove":
		n.removeMembers(g, by, named)
	case "promote", "demote":
		n.promoteMembers(g, by, change, named)
	}
}

// addMembers adds members. It announces them to the old ones, and the whole group to them.
func (n *Network) addMembers(g *group, by *account, named []*account, reason string) {
	var fresh []*account
	old := g.sorted()
	for _, a := range named {
		if g.members[a] == nil {
			g.add(a, &member{})
			fresh = append(fresh, a)
		}
	}
	if len(fresh) == 0 {
		return
	}
	change := Node{Tag: "add", Attrs: g.bump(), Content: g.participantNodes(fresh)}
	set(change.Attrs, "reason", reason)
	for _, who := range old {
		n.pushChange(g, by, who, change)
	}
	n.announceBirth(g, by, "", fresh...)
	n.notify()
}

func (g *group) participantNodes(accounts []*account) []Node {
	var out []Node
	for _, a := range accounts {
		out = append(out, g.participantNode(a))
	}
	return out
}

func (n *Network) removeMembers(g *group, by *account, named []*account) {
	var gone []*account
	for _, a := range named {
		if g.members[a] != nil {
			gone = append(gone, a)
		}
	}
	if len(gone) == 0 {
		return
	}
	change := Node{Tag: "remove", Attrs: g.bump(), Content: g.participantNodes(gone)}
	for _, a := range gone {
		g.remove(a)
	}
	n.announceChange(g, by, change, gone...)
	n.notify()
}

func (n *Network) promoteMembers(g *group, by *account, change string, named []*account) {
	var changed []*account
	for _, a := range named {
		m := g.members[a]
		if m == nil || m.superAdmin {
			continue
		}
		m.admin = change == "promote"
		changed = append(changed, a)
	}
	if len(changed) == 0 {
		return
	}
	n.announceChange(g, by, Node{Tag: change, Attrs: g.bump(), Content: g.participantNodes(changed)})
}
