package groups

import (
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// Reasons why a person is not added, promoted or removed.
const (
	codePrivate   = 403 // by the person's privacy settings; they may be invited
	codeUnknown   = 404 // no such account, or not a member
	codeUntouched = 405 // the founder, who cannot be removed or demoted
	codeLeft      = 408 // left a short while ago
	codeMember    = 409
	codeFull      = 419
)

// offer is an invitation for a person who could not be added.
type offer struct {
	to, by *people.Account
	until  time.Time
}

// offerLife is how long an invitation is valid.
const offerLife = 72 * time.Hour

// refuseAdd returns the reason why a person cannot be added, or 0.
func (g *Group) refuseAdd(by, who *people.Account) int {
	switch {
	case g.Members[who] != nil:
		return codeMember
	case !who.LetsAdd(by):
		return codePrivate
	case g.left[who]:
		return codeLeft
	case len(g.Members) >= g.Limit:
		return codeFull
	}
	return 0
}

// mayBeAdded returns the accounts that may be added, and entries with the reason for the others.
func (n *Registry) mayBeAdded(g *Group, by *people.Account, named []Node) (accounts []*people.Account, refused []Node) {
	room := g.Limit - len(g.Members)
	for _, participant := range named {
		jid := wire.JID(&participant, "jid")
		a, code := n.AccountOf(jid), codeUnknown
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

// offerTo returns an invitation to send to a person who cannot be added.
func (g *Group) offerTo(by, to *people.Account) Node {
	code, until := hex.EncodeToString(wire.Random(8)), time.Now().Add(offerLife)
	g.offers[code] = offer{to: to, by: by, until: until}
	return Node{Tag: "add_request", Attrs: attrs{"code": code, "expiration": strconv.FormatInt(until.Unix(), 10)}}
}

// acceptOffer lets the recipient of an invitation message join.
func (n *Registry) acceptOffer(g *Group, who *people.Account, request *Node) wire.Answer {
	o, ok := g.offers[wire.Text(request, "code")]
	switch {
	case !ok || o.to != who || n.AccountOf(wire.JID(request, "admin")) != o.by || !g.Members[o.by].IsAdmin():
		return wire.Refuse(401, "not-authorized")
	case time.Now().After(o.until):
		return wire.Gone
	case g.Members[who] != nil:
		return wire.Conflict
	}
	delete(g.offers, wire.Text(request, "code"))
	n.addMembers(g, o.by, []*people.Account{who}, "invite")
	return wire.Result()
}

// changeMembers applies a change of members. Its answer has the request's tag and one entry for each member named.
func (n *Registry) changeMembers(g *Group, by *people.Account, request *Node) wire.Answer {
	if g.Parent {
		return wire.NotAllowed // a community has the members of its groups
	}
	var named []*people.Account
	var entries []Node
	if request.Tag == "add" {
		named, entries = n.mayBeAdded(g, by, request.GetChildrenByTag("participant"))
	} else {
		named, entries = n.mayBeChanged(g, by, request)
	}
	n.ApplyMembers(g, by, request.Tag, named)
	entries = append(entries, g.participantNodes(named)...)
	return wire.Result(Node{Tag: request.Tag, Content: entries})
}

// mayBeChanged returns the accounts that may be removed, promoted or demoted, and entries for the others.
func (n *Registry) mayBeChanged(g *Group, by *people.Account, request *Node) (accounts []*people.Account, refused []Node) {
	for _, participant := range request.GetChildrenByTag("participant") {
		jid, code := wire.JID(&participant, "jid"), 0
		a := n.AccountOf(jid)
		switch {
		case a == nil || g.Members[a] == nil:
			code = codeUnknown
		case request.Tag != "promote" && g.Members[a].superAdmin && a != by:
			code = codeUntouched
		default:
			accounts = append(accounts, a)
			continue
		}
		refused = append(refused, Node{Tag: "participant", Attrs: attrs{"jid": jid, "error": strconv.Itoa(code)}})
	}
	return accounts, refused
}

// ApplyMembers makes a change of members that has passed the checks. The caller holds Mu.
func (n *Registry) ApplyMembers(g *Group, by *people.Account, change string, named []*people.Account) {
	switch change {
	case "add":
		n.addMembers(g, by, named, "")
	case "remove":
		n.RemoveMembers(g, by, named)
	case "promote", "demote":
		n.promoteMembers(g, by, change, named)
	}
}

// addMembers adds members. It announces them to the old members, and the whole group to them.
func (n *Registry) addMembers(g *Group, by *people.Account, named []*people.Account, reason string) {
	var fresh []*people.Account
	old := g.Sorted()
	for _, a := range named {
		if g.Members[a] == nil {
			g.add(a, &Member{})
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
	n.AnnounceBirth(g, by, "", fresh...)
	n.Notify()
}

func (g *Group) participantNodes(accounts []*people.Account) []Node {
	var out []Node
	for _, a := range accounts {
		out = append(out, g.participantNode(a))
	}
	return out
}

// RemoveMembers removes members. The caller holds Mu.
func (n *Registry) RemoveMembers(g *Group, by *people.Account, named []*people.Account) {
	var gone []*people.Account
	for _, a := range named {
		if g.Members[a] != nil {
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
	n.Notify()
}

// leaveGroups removes an account from groups. The first of the other members becomes an admin if none is left.
func (n *Registry) leaveGroups(who *people.Account, request *Node) wire.Answer {
	for _, left := range request.GetChildren() {
		g := n.Groups[wire.JID(&left, "id").User]
		switch {
		case g == nil || g.Members[who] == nil:
			return wire.ItemNotFound
		case g.Parent:
			return wire.NotAllowed
		}
		n.RemoveMembers(g, who, []*people.Account{who})
		isAdmin := func(a *people.Account) bool { return g.Members[a].IsAdmin() }
		if rest := g.Sorted(); len(rest) > 0 && !slices.ContainsFunc(rest, isAdmin) {
			n.promoteMembers(g, nil, "promote", rest[:1])
		}
	}
	return wire.Result(Node{Tag: "leave", Content: request.Content})
}

func (n *Registry) promoteMembers(g *Group, by *people.Account, change string, named []*people.Account) {
	var changed []*people.Account
	for _, a := range named {
		m := g.Members[a]
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
	n.Notify()
}
