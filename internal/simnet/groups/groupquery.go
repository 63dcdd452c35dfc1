package groups

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// AnswerGroups handles a w:g2 query to one group or to the group server.
func (n *Registry) AnswerGroups(d *people.Device, node *Node) wire.Answer {
	to := wire.JID(node, "to")
	children := node.GetChildren()
	if len(children) == 0 {
		return wire.BadRequest
	}
	request, setting := &children[0], wire.Text(node, "type") == "set"
	if to.User == "" {
		return n.answerGroupServer(d, request, setting)
	}
	g := n.Groups[to.User]
	switch {
	case g == nil:
		return wire.ItemNotFound
	case request.Tag == "accept":
		return n.acceptOffer(g, d.Account, request)
	case g.Members[d.Account] == nil:
		return wire.Forbidden
	case request.Tag == "query":
		return wire.Result(g.node())
	case request.Tag == "invite":
		return n.answerInvite(g, d.Account, setting)
	}
	return n.ChangeGroup(g, d.Account, request)
}

// answerGroupServer handles queries that do not concern one of the account's groups.
func (n *Registry) answerGroupServer(d *people.Device, request *Node, setting bool) wire.Answer {
	switch request.Tag {
	case "participating":
		var groups []Node
		for _, g := range n.GroupsOf(d.Account) {
			groups = append(groups, g.node())
		}
		return wire.Result(Node{Tag: "groups", Content: groups})
	case "create":
		return n.createGroup(d.Account, request)
	case "leave":
		return n.leaveGroups(d.Account, request)
	case "invite":
		return n.answerLink(d.Account, wire.Text(request, "code"), setting)
	}
	return wire.Refuse(501, "feature-not-implemented")
}

// createGroup creates a group. People who may not be added are listed with the reason and do not become members.
func (n *Registry) createGroup(creator *people.Account, request *Node) wire.Answer {
	subject := wire.Text(request, "subject")
	if !subjectFits(subject) {
		return wire.NotAcceptable
	}
	g := n.NewGroup(creator, "", subject, true, nil)
	g.addByAll = string(wire.ChildBytes(request, "member_add_mode")) == "all_member_add"
	_, g.Announce = wire.Child(request, "announcement")
	_, g.Locked = wire.Child(request, "locked")
	if mode, ok := wire.Child(request, "membership_approval_mode", "group_join"); ok {
		g.setApproval(wire.Text(mode, "state") == "on")
	}
	if ephemeral, ok := wire.Child(request, "ephemeral"); ok {
		g.Ephemeral = parseSeconds(wire.Text(ephemeral, "expiration"))
	}
	members, refused := n.mayBeAdded(g, creator, request.GetChildrenByTag("participant"))
	for _, a := range members {
		g.add(a, &Member{})
	}
	n.AnnounceBirth(g, creator, n.createKey(request), g.Sorted()...)
	n.Notify()
	node := g.node()
	node.Content = append(node.GetChildren(), refused...)
	return wire.Result(node)
}

// createKey returns the key that the creator gave a new group. The creator's devices recognize the group by it.
func (n *Registry) createKey(request *Node) string {
	if n.dropsCreateKeys {
		return ""
	}
	return wire.Text(request, "key")
}

// DropCreateKeys makes the server drop the keys that creators give new groups.
func (n *Registry) DropCreateKeys() {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.dropsCreateKeys = true
}

// subjectFits reports whether the apps accept a group's name.
func subjectFits(subject string) bool {
	length := utf8.RuneCountInString(subject)
	return length >= 1 && length <= 100
}

func parseSeconds(s string) uint32 {
	seconds, _ := strconv.ParseUint(s, 10, 32)
	return uint32(seconds)
}

// ChangeGroup makes a change at a member's request, if the member may make it.
func (n *Registry) ChangeGroup(g *Group, by *people.Account, request *Node) wire.Answer {
	mayManage := g.Members[by].IsAdmin()
	mayEdit := mayManage || !g.Locked
	switch request.Tag {
	case "add", "remove", "promote", "demote":
		if !mayManage && !(request.Tag == "add" && g.addByAll) {
			return wire.Forbidden
		}
		return n.changeMembers(g, by, request)
	case "membership_approval_requests", "membership_requests_action":
		if !mayManage {
			return wire.Forbidden
		}
		return n.answerRequests(g, by, request)
	case "subject", "description", "ephemeral", "not_ephemeral":
		if !mayEdit {
			return wire.Forbidden
		}
	case "announcement", "not_announcement", "locked", "unlocked", "membership_approval_mode", "member_add_mode":
		if !mayManage {
			return wire.Forbidden
		}
	default:
		return wire.Refuse(501, "feature-not-implemented")
	}
	change, refused := g.apply(by, request)
	if refused.Code != 0 {
		return refused
	}
	n.announceChange(g, by, change)
	n.Notify()
	return wire.Result()
}

// apply changes a setting and returns the change to announce.
func (g *Group) apply(by *people.Account, request *Node) (change Node, refused wire.Answer) {
	change = Node{Tag: request.Tag, Attrs: attrs{}}
	switch request.Tag {
	case "subject":
		subject := string(wire.Bytes(*request))
		if !subjectFits(subject) {
			return Node{}, wire.NotAcceptable
		}
		g.Subject, g.subjectAt, g.subjectBy = subject, time.Now(), by
		change.Attrs = attrs{"subject": g.Subject, "s_t": wire.UnixNow(), "s_o": by.Address(g.Form(), 0)}
	case "description":
		return g.Describe(by, request)
	case "announcement", "not_announcement":
		g.Announce = request.Tag == "announcement"
		change.Attrs = g.bump()
	case "locked", "unlocked":
		g.Locked = request.Tag == "locked"
	case "ephemeral":
		g.Ephemeral = parseSeconds(wire.Text(request, "expiration"))
		change.Attrs["expiration"] = strconv.Itoa(int(g.Ephemeral))
	case "not_ephemeral":
		g.Ephemeral = 0
	case "membership_approval_mode":
		mode, _ := wire.Child(request, "group_join")
		g.setApproval(wire.Text(mode, "state") == "on")
		change = ApprovalNode(g.approval)
	case "member_add_mode":
		g.addByAll = string(wire.Bytes(*request)) == "all_member_add"
		change.Content = wire.Bytes(*request)
	}
	return change, wire.Answer{}
}

// Describe changes the description, unless it has changed since: the request names the version that it replaces.
func (g *Group) Describe(by *people.Account, request *Node) (change Node, refused wire.Answer) {
	topic := string(wire.ChildBytes(request, "body"))
	switch {
	case wire.Text(request, "prev") != g.TopicID:
		return Node{}, wire.Refuse(409, "conflict")
	case utf8.RuneCountInString(topic) > 2048:
		return Node{}, wire.NotAcceptable
	}
	g.topic, g.TopicID, g.topicAt, g.topicBy = topic, wire.Text(request, "id"), time.Now(), by
	if g.TopicID == "" {
		g.TopicID = strings.ToUpper(hex.EncodeToString(wire.Random(8)))
	}
	change = Node{Tag: "description", Attrs: attrs{"id": g.TopicID}}
	if g.topic == "" {
		change.Content, g.TopicID = []Node{{Tag: "delete"}}, ""
		return change, wire.Answer{}
	}
	change.Content = []Node{{Tag: "body", Content: []byte(g.topic)}}
	return change, wire.Answer{}
}
