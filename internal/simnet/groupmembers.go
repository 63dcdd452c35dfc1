package simnet

import (
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"bridged/internal/simnet/wire"
)

// The reasons for which somebody is not added, promoted or removed.
const (
	codePrivate   = 403 // by what they chose in their privacy settings; they may be invited
	codeUnknown   = 404 // nobody, or no member
	codeUntouched = 405 // the founder, whom nobody removes or demotes
	codeLeft      = 408 // left a short while ago
	codeMember    = 409
	codeFull      = 419
)

// offer is an invitation to one person, who could not be added.
type offer struct {
	to, by *account
	until  time.Time
}

// offerTime is how long an invitation counts.
const offerTime = 72 * time.Hour

// letsAdd reports whether somebody may put the account into groups.
func (a *account) letsAdd(by *account) bool {
	switch a.privacy["groupadd"] {
	case "none":
		return false
	case "contacts":
		_, trusted := a.issued[by]
		return trusted
	}
	return true
}

// refuseAdd returns why somebody is not added, 0 if they are.
func (g *group) refuseAdd(by, who *account) int {
	switch {
	case g.members[who] != nil:
		return codeMember
	case !who.letsAdd(by):
		return codePrivate
	case g.left[who]:
		return codeLeft
	case len(g.members) >= g.limit:
		return codeFull
	}
	return 0
}

// mayBeAdded returns those of the named who may be added, and entries for the others, with the reason.
func (n *Server) mayBeAdded(g *group, by *account, named []Node) (accounts []*account, refused []Node) {
	room := g.limit - len(g.members)
	for _, participant := range named {
		jid := wire.JID(&participant, "jid")
		a, code := n.account(jid), codeUnknown
		if a != nil {
			code = g.refuseAdd(by, a)
		}
		if code == 0 && len(accounts) == room {
			code = codeFull
		}
		if code == 0 {
			accounts = append(accounts, a)
			continue
		}
		entry := Node{Tag: "participant", Attrs: attrs{"jid": jid, "error": strconv.Itoa(code)}}
		if code == codePrivate {
			entry.Content = []Node{g.offerTo(by, a)}
		}
		refused = append(refused, entry)
	}
	return accounts, refused
}

// offerTo returns an invitation for somebody who cannot be added, to be sent to them.
func (g *group) offerTo(by, to *account) Node {
	code, until := hex.EncodeToString(wire.Random(8)), time.Now().Add(offerTime)
	g.offers[code] = offer{to: to, by: by, until: until}
	return Node{Tag: "add_request", Attrs: attrs{"code": code, "expiration": strconv.FormatInt(until.Unix(), 10)}}
}

// acceptOffer lets somebody in who was invited in a message.
func (n *Server) acceptOffer(g *group, who *account, request *Node) wire.Answer {
	o, ok := g.offers[wire.Text(request, "code")]
	switch {
	case !ok || o.to != who || n.account(wire.JID(request, "admin")) != o.by || !g.members[o.by].isAdmin():
		return wire.Refuse(401, "not-authorized")
	case time.Now().After(o.until):
		return wire.Gone
	case g.members[who] != nil:
		return wire.Conflict
	}
	delete(g.offers, wire.Text(request, "code"))
	n.addMembers(g, o.by, []*account{who}, "invite")
	return wire.Result()
}

// changeMembers applies a change of members. Its answer has the request's tag, and one entry for each member named.
func (n *Server) changeMembers(g *group, by *account, request *Node) wire.Answer {
	if g.parent {
		return wire.NotAllowed // a community's members are those of its groups
	}
	var named []*account
	var entries []Node
	if request.Tag == "add" {
		named, entries = n.mayBeAdded(g, by, request.GetChildrenByTag("participant"))
	} else {
		named, entries = n.mayBeChanged(g, by, request)
	}
	n.applyMembers(g, by, request.Tag, named)
	entries = append(entries, g.participantNodes(named)...)
	return wire.Result(Node{Tag: request.Tag, Content: entries})
}

// mayBeChanged returns those of the named who may be removed, promoted or demoted, and entries for the others.
func (n *Server) mayBeChanged(g *group, by *account, request *Node) (accounts []*account, refused []Node) {
	for _, participant := range request.GetChildrenByTag("participant") {
		jid, code := wire.JID(&participant, "jid"), 0
		a := n.account(jid)
		switch {
		case a == nil || g.members[a] == nil:
			code = codeUnknown
		case request.Tag != "promote" && g.members[a].superAdmin && a != by:
			code = codeUntouched
		default:
			accounts = append(accounts, a)
			continue
		}
		refused = append(refused, Node{Tag: "participant", Attrs: attrs{"jid": jid, "error": strconv.Itoa(code)}})
	}
	return accounts, refused
}

func (n *Server) applyMembers(g *group, by *account, change string, named []*account) {
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
func (n *Server) addMembers(g *group, by *account, named []*account, reason string) {
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
	wire.Set(change.Attrs, "reason", reason)
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

func (n *Server) removeMembers(g *group, by *account, named []*account) {
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
		if a == by {
			g.left[a] = true
		} else {
			g.barred[a] = true
		}
	}
	n.announceChange(g, by, change, gone...)
	n.notify()
}

// leaveGroups takes an account out of groups. The first of the others becomes an admin where none is left.
func (n *Server) leaveGroups(who *account, request *Node) wire.Answer {
	for _, left := range request.GetChildren() {
		g := n.groups[wire.JID(&left, "id").User]
		switch {
		case g == nil || g.members[who] == nil:
			return wire.ItemNotFound
		case g.parent:
			return wire.NotAllowed
		}
		n.removeMembers(g, who, []*account{who})
		isAdmin := func(a *account) bool { return g.members[a].isAdmin() }
		if rest := g.sorted(); len(rest) > 0 && !slices.ContainsFunc(rest, isAdmin) {
			n.promoteMembers(g, nil, "promote", rest[:1])
		}
	}
	return wire.Result(Node{Tag: "leave", Content: request.Content})
}

func (n *Server) promoteMembers(g *group, by *account, change string, named []*account) {
	var changed []*account
	for _, a := range named {
		m := g.members[a]
		if m == nil || m.superAdmin || m.admin == (change == "promote") {
			continue
		}
		m.admin = change == "promote"
		changed = append(changed, a)
	}
	if len(changed) == 0 {
		return
	}
	n.announceChange(g, by, Node{Tag: change, Attrs: g.bump(), Content: g.participantNodes(changed)})
	n.notify()
}
