package simnet

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/wire"
)

// group is a group as the server knows it. Server.mu guards it.
type group struct {
	id          string
	lidMode     bool
	subject     string
	subjectAt   time.Time
	subjectBy   *account
	creator     *account
	created     time.Time
	topic       string
	topicID     string
	topicAt     time.Time
	topicBy     *account
	announce    bool
	locked      bool
	parent      bool      // a community, in which nobody writes
	community   types.JID // that it is the announcement group of; empty for others
	picture     *media.Picture
	ephemeral   uint32
	approval    bool // who comes by the link has to be let in by an admin
	approvalSet bool // that was on once: the description has its state from then on
	addByAll    bool // every member may add others
	limit       int  // how many members it may have
	version     int
	invite      string
	revoked     map[string]bool // earlier links
	offers      map[string]offer
	requests    []joinRequest     // who waits to be let in
	left        map[*account]bool // who left of their own accord
	barred      map[*account]bool // whom an admin removed
	members     map[*account]*member
	memberOrder []*account
}

// groupLimit is how many members groups may have.
const groupLimit = 1024

type member struct{ admin, superAdmin bool }

func (m *member) isAdmin() bool { return m.admin || m.superAdmin }

func (m *member) kind() string {
	switch {
	case m.superAdmin:
		return "superadmin"
	case m.admin:
		return "admin"
	}
	return ""
}

func (g *group) jid() types.JID { return types.NewJID(g.id, types.GroupServer) }

// form returns the server name of the JIDs by which the group knows its members.
func (g *group) form() string {
	if g.lidMode {
		return types.HiddenUserServer
	}
	return types.DefaultUserServer
}

// sorted returns the members in the order in which they came.
func (g *group) sorted() []*account { return g.memberOrder }

func (g *group) add(a *account, m *member) {
	if g.members[a] == nil {
		g.memberOrder = append(slices.Clone(g.memberOrder), a)
	}
	g.members[a] = m
	delete(g.left, a)
	delete(g.barred, a)
}

func (g *group) remove(a *account) {
	delete(g.members, a)
	g.memberOrder = slices.DeleteFunc(slices.Clone(g.memberOrder), func(other *account) bool { return other == a })
}

func (g *group) participantNode(a *account) Node {
	out := Node{Tag: "participant", Attrs: attrs{"jid": a.jid(g.form(), 0)}}
	if m := g.members[a]; m != nil {
		wire.Set(out.Attrs, "type", m.kind())
	}
	if g.lidMode {
		wire.Set(out.Attrs, "phone_number", a.alternative(g.form()))
	} else {
		wire.Set(out.Attrs, "lid", a.alternative(g.form()))
	}
	wire.Set(out.Attrs, "username", a.username)
	return out
}

// node returns the description of the whole group.
func (g *group) node() Node {
	a := attrs{
		// A string without the server: whatsmeow adds that itself.
		"id": g.id, "subject": g.subject, "s_t": strconv.FormatInt(g.subjectAt.Unix(), 10),
		"creation": strconv.FormatInt(g.created.Unix(), 10), "size": strconv.Itoa(len(g.members)),
		"addressing_mode": wire.ShortForm(g.form()), "p_v_id": strconv.Itoa(g.version), "a_v_id": strconv.Itoa(g.version),
	}
	if g.subjectBy != nil {
		a["s_o"] = g.subjectBy.jid(g.form(), 0)
	}
	if g.creator != nil {
		a["creator"] = g.creator.jid(g.form(), 0)
		if g.lidMode {
			wire.Set(a, "creator_pn", g.creator.alternative(g.form()))
		}
	}
	var content []Node
	for _, who := range g.sorted() {
		content = append(content, g.participantNode(who))
	}
	return Node{Tag: "group", Attrs: a, Content: append(content, g.settings()...)}
}

func (g *group) settings() []Node {
	var out []Node
	if g.topic != "" {
		description := Node{Tag: "description", Attrs: attrs{"id": g.topicID, "t": strconv.FormatInt(g.topicAt.Unix(), 10)}, Content: []Node{
			{Tag: "body", Content: []byte(g.topic)},
		}}
		if g.topicBy != nil {
			description.Attrs["participant"] = g.topicBy.jid(g.form(), 0)
		}
		out = append(out, description)
	}
	if g.announce {
		out = append(out, Node{Tag: "announcement"})
	}
	if g.locked {
		out = append(out, Node{Tag: "locked"})
	}
	if g.approvalSet {
		out = append(out, approvalNode(g.approval))
	}
	out = append(out, Node{Tag: "member_add_mode", Content: []byte(wire.Either(g.addByAll, "all_member_add", "admin_add"))})
	if g.parent {
		out = append(out, Node{Tag: "parent", Attrs: attrs{"default_membership_approval_mode": "request_required"}})
	}
	if !g.community.IsEmpty() {
		out = append(out, Node{Tag: "linked_parent", Attrs: attrs{"jid": g.community}}, Node{Tag: "default_sub_group"})
	}
	if g.ephemeral > 0 {
		out = append(out, Node{Tag: "ephemeral", Attrs: attrs{"expiration": strconv.Itoa(int(g.ephemeral))}})
	}
	return out
}

// jids returns the members in the group's own form.
func (g *group) jids() (all []types.JID) {
	for _, a := range g.sorted() {
		all = append(all, a.jid(g.form(), 0))
	}
	return all
}

// bump starts a new version of the group and returns the attributes for both.
func (g *group) bump() attrs {
	g.version++
	return attrs{"v_id": strconv.Itoa(g.version), "prev_v_id": strconv.Itoa(g.version - 1)}
}

// announceChange notifies all devices of all members, and of alsoTo, of a change.
func (n *Server) announceChange(g *group, by *account, change Node, alsoTo ...*account) {
	for _, who := range slices.Concat(g.sorted(), alsoTo) {
		n.pushChange(g, by, who, change)
	}
}

func (n *Server) pushChange(g *group, by, to *account, change Node) {
	for _, d := range to.sorted() {
		node := Node{Tag: "notification", Attrs: attrs{
			"from": g.jid(), "type": "w:gp2", "id": n.nextID(), "t": wire.UnixNow(), "addressing_mode": wire.ShortForm(g.form()),
		}, Content: []Node{change}}
		if by != nil {
			node.Attrs["participant"] = by.jid(g.form(), 0)
			wire.Set(node.Attrs, "notify", by.name)
			wire.Set(node.Attrs, "participant_username", by.username)
			if g.lidMode {
				wire.Set(node.Attrs, "participant_pn", by.alternative(g.form()))
			}
		}
		n.push(d, node)
	}
}

// announceBirth notifies members of a group that is new to them.
func (n *Server) announceBirth(g *group, by *account, key string, to ...*account) {
	create := Node{Tag: "create", Attrs: attrs{"type": "new"}, Content: []Node{g.node()}}
	wire.Set(create.Attrs, "key", key)
	for _, who := range to {
		n.pushChange(g, by, who, create)
	}
}

// newGroup registers a group; an empty id means a generated one. The caller holds mu.
func (n *Server) newGroup(creator *account, id, subject string, lidMode bool, members []*account) *group {
	now := time.Now()
	if id == "" {
		n.sequence++
		id = "1203630" + strconv.FormatInt(now.Unix(), 10)[2:] + strconv.Itoa(1000+n.sequence)
	}
	g := &group{
		id: id, lidMode: lidMode, subject: subject, subjectAt: now, subjectBy: creator, creator: creator, created: now,
		members: make(map[*account]*member), version: 1, limit: groupLimit, revoked: make(map[string]bool), offers: make(map[string]offer),
		left: make(map[*account]bool), barred: make(map[*account]bool),
	}
	g.add(creator, &member{superAdmin: true})
	for _, a := range members {
		if g.members[a] == nil {
			g.add(a, &member{})
		}
	}
	n.groups[id] = g
	return g
}

// groupsOf returns the groups that an account is in, oldest first.
func (n *Server) groupsOf(a *account) []*group {
	var out []*group
	for _, id := range slices.Sorted(maps.Keys(n.groups)) {
		if g := n.groups[id]; g.members[a] != nil {
			out = append(out, g)
		}
	}
	return out
}
