package groups

import (
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// answerInvite returns the code of the group's link to an admin, after replacing it if revoke is set.
func (n *Registry) answerInvite(g *Group, by *people.Account, revoke bool) wire.Answer {
	if !g.Members[by].IsAdmin() {
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

// answerLink describes the group of a link, or lets the account join.
func (n *Registry) answerLink(who *people.Account, code string, join bool) wire.Answer {
	for _, g := range n.Groups {
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

func (n *Registry) joinByLink(g *Group, who *people.Account) wire.Answer {
	switch {
	case g.Members[who] != nil:
		return wire.Conflict
	case g.barred[who]:
		return wire.NotAuthorized
	case len(g.Members) >= g.Limit:
		return wire.Refuse(419, "resource-limit")
	case g.approval:
		return n.requestEntry(g, who)
	}
	n.addMembers(g, who, []*people.Account{who}, "invite")
	return wire.Result(Node{Tag: "group", Attrs: attrs{"jid": g.JID()}})
}

// JoinRequest is a person's request to join.
type JoinRequest struct {
	Who *people.Account
	at  time.Time
}

// requestOf returns the index of a person's request to join, or -1.
func (g *Group) requestOf(who *people.Account) int {
	return slices.IndexFunc(g.Requests, func(r JoinRequest) bool { return r.Who == who })
}

// requestEntry adds an account's request to join and notifies the admins. The notification has a requested_user instead of a participant
// (whatsapp-rust, wacore, notifications of groups).
func (n *Registry) requestEntry(g *Group, who *people.Account) wire.Answer {
	if g.requestOf(who) < 0 {
		g.Requests = append(g.Requests, JoinRequest{who, time.Now()})
		asking := g.participantNode(who)
		asking.Tag = "requested_user"
		n.notifyAdmins(g, who, Node{Tag: "created_membership_requests", Attrs: attrs{"request_method": "invite_link"}, Content: []Node{asking}})
	}
	return wire.Result(Node{Tag: "membership_approval_request", Attrs: attrs{"jid": g.JID()}})
}

// notifyAdmins notifies the admins of a group of a change.
func (n *Registry) notifyAdmins(g *Group, by *people.Account, change Node) {
	for _, a := range g.Sorted() {
		if g.Members[a].IsAdmin() {
			n.pushChange(g, by, a, change)
		}
	}
}

// Withdraw removes a request to join, on behalf of the person or an admin.
func (n *Registry) Withdraw(g *Group, by, who *people.Account) {
	if i := g.requestOf(who); i >= 0 {
		g.Requests = slices.Delete(g.Requests, i, i+1)
		n.notifyAdmins(g, by, Node{Tag: "revoked_membership_requests", Content: g.participantNodes([]*people.Account{who})})
	}
}

// answerRequests lists the requests to join, or decides about some.
func (n *Registry) answerRequests(g *Group, by *people.Account, request *Node) wire.Answer {
	if request.Tag == "membership_approval_requests" {
		var waiting []Node
		for _, r := range g.Requests {
			waiting = append(waiting, Node{Tag: "membership_approval_request", Attrs: attrs{
				"jid": r.Who.Address(g.Form(), 0), "request_time": strconv.FormatInt(r.at.Unix(), 10), "request_method": "invite_link",
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
		if code := n.decide(g, by, n.AccountOf(wire.JID(&participant, "jid")), decisions[0].Tag == "approve"); code != 0 {
			entry.Attrs["error"] = strconv.Itoa(code)
		}
		entries = append(entries, entry)
	}
	return wire.Result(Node{Tag: request.Tag, Content: []Node{{Tag: decisions[0].Tag, Content: entries}}})
}

// decide admits or rejects a person who asked to join. It returns an error code if it cannot.
func (n *Registry) decide(g *Group, by, who *people.Account, let bool) int {
	i := g.requestOf(who)
	switch {
	case i < 0:
		return codeUnknown
	case !let:
		n.Withdraw(g, by, who)
	case len(g.Members) >= g.Limit:
		return codeFull
	default:
		g.Requests = slices.Delete(g.Requests, i, i+1)
		n.addMembers(g, by, []*people.Account{who}, "invite")
	}
	return 0
}

func (g *Group) setApproval(on bool) { g.approval, g.approvalSet = on, g.approvalSet || on }

// ApprovalNode returns the setting whether an admin has to approve people who join.
func ApprovalNode(on bool) Node {
	return Node{Tag: "membership_approval_mode", Content: []Node{{Tag: "group_join", Attrs: attrs{"state": wire.Either(on, "on", "off")}}}}
}
