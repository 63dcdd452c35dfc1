package simnet

import (
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"bridged/internal/simnet/wire"
)

// answerInvite gives an admin the code of the group's link, a new one if he takes the old one back.
func (n *Server) answerInvite(g *group, by *account, revoke bool) wire.Answer {
	if !g.members[by].isAdmin() {
		return wire.NotAuthorized
	}
	if revoke && g.invite != "" {
		g.revoked[g.invite], g.invite = true, ""
	}
	if g.invite == "" {
		g.invite = hex.EncodeToString(wire.Random(11))
	}
	invite := Node{Tag: "invite", Attrs: attrs{"code": g.invite}}
	if revoke {
		n.announceChange(g, by, invite)
	}
	return wire.Result(invite)
}

// answerLink tells of the group that a link leads to, or lets the account in.
func (n *Server) answerLink(who *account, code string, join bool) wire.Answer {
	for _, g := range n.groups {
		switch {
		case g.revoked[code]:
			return wire.Gone
		case g.invite == "" || g.invite != code:
			continue
		case join:
			return n.joinByLink(g, who)
		}
		return wire.Result(g.node())
	}
	return wire.NotAcceptable
}

func (n *Server) joinByLink(g *group, who *account) wire.Answer {
	switch {
	case g.members[who] != nil:
		return wire.Conflict
	case g.barred[who]:
		return wire.NotAuthorized
	case len(g.members) >= g.limit:
		return wire.Refuse(419, "resource-limit")
	case g.approval:
		return n.requestEntry(g, who)
	}
	n.addMembers(g, who, []*account{who}, "invite")
	return wire.Result(Node{Tag: "group", Attrs: attrs{"jid": g.jid()}})
}

// joinRequest is somebody who wants to be let in.
type joinRequest struct {
	who *account
	at  time.Time
}

// requestOf returns where somebody stands among those who wait; -1 for nowhere.
func (g *group) requestOf(who *account) int {
	return slices.IndexFunc(g.requests, func(r joinRequest) bool { return r.who == who })
}

// requestEntry notes that somebody wants to be let in, and tells the admins. They are told of a requested user, not of a participant.
// (whatsapp-rust, wacore, notifications of groups.)
func (n *Server) requestEntry(g *group, who *account) wire.Answer {
	if g.requestOf(who) < 0 {
		g.requests = append(g.requests, joinRequest{who, time.Now()})
		asking := g.participantNode(who)
		asking.Tag = "requested_user"
		n.tellAdmins(g, who, Node{Tag: "created_membership_requests", Attrs: attrs{"request_method": "invite_link"}, Content: []Node{asking}})
	}
	return wire.Result(Node{Tag: "membership_approval_request", Attrs: attrs{"jid": g.jid()}})
}

// tellAdmins tells the admins of a group of a change.
func (n *Server) tellAdmins(g *group, by *account, change Node) {
	for _, a := range g.sorted() {
		if g.members[a].isAdmin() {
			n.pushChange(g, by, a, change)
		}
	}
}

// withdraw takes somebody off those who wait, by themselves or by an admin.
func (n *Server) withdraw(g *group, by, who *account) {
	if i := g.requestOf(who); i >= 0 {
		g.requests = slices.Delete(g.requests, i, i+1)
		n.tellAdmins(g, by, Node{Tag: "revoked_membership_requests", Content: g.participantNodes([]*account{who})})
	}
}

// answerRequests lists those who want to be let in, or decides about some.
func (n *Server) answerRequests(g *group, by *account, request *Node) wire.Answer {
	if request.Tag == "membership_approval_requests" {
		var waiting []Node
		for _, r := range g.requests {
			waiting = append(waiting, Node{Tag: "membership_approval_request", Attrs: attrs{
				"jid": r.who.jid(g.form(), 0), "request_time": strconv.FormatInt(r.at.Unix(), 10), "request_method": "invite_link",
			}})
		}
		return wire.Result(Node{Tag: request.Tag, Content: waiting})
	}
	decisions := request.GetChildren()
	if len(decisions) != 1 {
		return wire.BadRequest
	}
	var entries []Node
	for _, participant := range decisions[0].GetChildrenByTag("participant") {
		entry := Node{Tag: "participant", Attrs: attrs{"jid": wire.JID(&participant, "jid")}}
		if code := n.decide(g, by, n.account(wire.JID(&participant, "jid")), decisions[0].Tag == "approve"); code != 0 {
			entry.Attrs["error"] = strconv.Itoa(code)
		}
		entries = append(entries, entry)
	}
	return wire.Result(Node{Tag: request.Tag, Content: []Node{{Tag: decisions[0].Tag, Content: entries}}})
}

// decide lets somebody in who waits, or sends them away, and returns why that is not done.
func (n *Server) decide(g *group, by, who *account, let bool) int {
	i := g.requestOf(who)
	switch {
	case i < 0:
		return codeUnknown
	case !let:
		n.withdraw(g, by, who)
	case len(g.members) >= g.limit:
		return codeFull
	default:
		g.requests = slices.Delete(g.requests, i, i+1)
		n.addMembers(g, by, []*account{who}, "invite")
	}
	return 0
}

func (g *group) setApproval(on bool) { g.approval, g.approvalSet = on, g.approvalSet || on }

func approvalNode(on bool) Node {
	return Node{Tag: "membership_approval_mode", Content: []Node{{Tag: "group_join", Attrs: attrs{"state": wire.Either(on, "on", "off")}}}}
}
