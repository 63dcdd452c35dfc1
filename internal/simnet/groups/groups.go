package groups

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

type (
	// Node is a stanza or a part of one.
	Node  = wire.Node
	attrs = wire.Attrs
)

// Registry holds the groups of a network. Directory.Mu guards it.
type Registry struct {
	*people.Directory
	Groups map[string]*Group
	// dropsCreateKeys leaves the keys of new groups out of notifications.
	dropsCreateKeys bool
}

// NewRegistry returns a registry without groups for the people of a directory.
func NewRegistry(directory *people.Directory) *Registry {
	return &Registry{Directory: directory, Groups: make(map[string]*Group)}
}

// Group is a group as the server knows it. Directory.Mu guards it.
type Group struct {
	id          string
	LidMode     bool
	Subject     string
	subjectAt   time.Time
	subjectBy   *people.Account
	creator     *people.Account
	CreatedAt   time.Time
	topic       string
	TopicID     string
	topicAt     time.Time
	topicBy     *people.Account
	Announce    bool
	Locked      bool
	Parent      bool      // a community: its members cannot write in it
	Community   types.JID // whose announcement group it is; empty for others
	Picture     *media.Picture
	Ephemeral   uint32
	approval    bool // an admin has to approve people who join by the link
	approvalSet bool // approval was on once: the description has its state from then on
	addByAll    bool // every member may add others
	Limit       int  // the largest number of members
	version     int
	invite      string
	revoked     map[string]bool // earlier link codes
	offers      map[string]offer
	Requests    []JoinRequest            // people who wait for approval
	left        map[*people.Account]bool // members who left on their own
	barred      map[*people.Account]bool // members that an admin removed
	Members     map[*people.Account]*Member
	memberOrder []*people.Account
}

// groupLimit is the largest number of members by default.
const groupLimit = 1024

type Member struct{ admin, superAdmin bool }

// IsAdmin reports whether the member may change the group.
func (m *Member) IsAdmin() bool { return m.admin || m.superAdmin }

func (m *Member) kind() string {
	switch {
	case m.superAdmin:
		return "superadmin"
	case m.admin:
		return "admin"
	}
	return ""
}

// JID returns the address of the group.
func (g *Group) JID() types.JID { return types.NewJID(g.id, types.GroupServer) }

// Form returns the server name in the JIDs of the group's members.
func (g *Group) Form() string {
	if g.LidMode {
		return types.HiddenUserServer
	}
	return types.DefaultUserServer
}

// Sorted returns the members in the order of joining.
func (g *Group) Sorted() []*people.Account { return g.memberOrder }

func (g *Group) add(a *people.Account, m *Member) {
	if g.Members[a] == nil {
		g.memberOrder = append(slices.Clone(g.memberOrder), a)
	}
	g.Members[a] = m
	delete(g.left, a)
	delete(g.barred, a)
}

func (g *Group) remove(a *people.Account) {
	delete(g.Members, a)
	g.memberOrder = slices.DeleteFunc(slices.Clone(g.memberOrder), func(other *people.Account) bool { return other == a })
}

func (g *Group) participantNode(a *people.Account) Node {
	out := Node{Tag: "participant", Attrs: attrs{"jid": a.Address(g.Form(), 0)}}
	if m := g.Members[a]; m != nil {
		wire.Set(out.Attrs, "type", m.kind())
	}
	if g.LidMode {
		wire.Set(out.Attrs, "phone_number", a.Alternative(g.Form()))
	} else {
		wire.Set(out.Attrs, "lid", a.Alternative(g.Form()))
	}
	wire.Set(out.Attrs, "username", a.Username)
	return out
}

// node returns the full description of the group.
func (g *Group) node() Node {
	a := attrs{
		// Without the server, which whatsmeow adds.
		"id": g.id, "subject": g.Subject, "s_t": strconv.FormatInt(g.subjectAt.Unix(), 10),
		"creation": strconv.FormatInt(g.CreatedAt.Unix(), 10), "size": strconv.Itoa(len(g.Members)),
		"addressing_mode": wire.ShortForm(g.Form()), "p_v_id": strconv.Itoa(g.version), "a_v_id": strconv.Itoa(g.version),
	}
	if g.subjectBy != nil {
		a["s_o"] = g.subjectBy.Address(g.Form(), 0)
	}
	if g.creator != nil {
		a["creator"] = g.creator.Address(g.Form(), 0)
		if g.LidMode {
			wire.Set(a, "creator_pn", g.creator.Alternative(g.Form()))
		}
	}
	var content []Node
	for _, who := range g.Sorted() {
		content = append(content, g.participantNode(who))
	}
	return Node{Tag: "group", Attrs: a, Content: append(content, g.settings()...)}
}

func (g *Group) settings() []Node {
	var out []Node
	if g.topic != "" {
		description := Node{Tag: "description", Attrs: attrs{"id": g.TopicID, "t": strconv.FormatInt(g.topicAt.Unix(), 10)}, Content: []Node{
			{Tag: "body", Content: []byte(g.topic)},
		}}
		if g.topicBy != nil {
			description.Attrs["participant"] = g.topicBy.Address(g.Form(), 0)
		}
		out = append(out, description)
	}
	if g.Announce {
		out = append(out, Node{Tag: "announcement"})
	}
	if g.Locked {
		out = append(out, Node{Tag: "locked"})
	}
	if g.approvalSet {
		out = append(out, ApprovalNode(g.approval))
	}
	out = append(out, Node{Tag: "member_add_mode", Content: []byte(wire.Either(g.addByAll, "all_member_add", "admin_add"))})
	if g.Parent {
		out = append(out, Node{Tag: "parent", Attrs: attrs{"default_membership_approval_mode": "request_required"}})
	}
	if !g.Community.IsEmpty() {
		out = append(out, Node{Tag: "linked_parent", Attrs: attrs{"jid": g.Community}}, Node{Tag: "default_sub_group"})
	}
	if g.Ephemeral > 0 {
		out = append(out, Node{Tag: "ephemeral", Attrs: attrs{"expiration": strconv.Itoa(int(g.Ephemeral))}})
	}
	return out
}

// JIDs returns the members as the group addresses them.
func (g *Group) JIDs() (all []types.JID) {
	for _, a := range g.Sorted() {
		all = append(all, a.Address(g.Form(), 0))
	}
	return all
}

// bump starts a new version of the group and returns the attributes of the old and the new one.
func (g *Group) bump() attrs {
	g.version++
	return attrs{"v_id": strconv.Itoa(g.version), "prev_v_id": strconv.Itoa(g.version - 1)}
}

// announceChange notifies all devices of all members, and of alsoTo, of a change.
func (n *Registry) announceChange(g *Group, by *people.Account, change Node, alsoTo ...*people.Account) {
	for _, who := range slices.Concat(g.Sorted(), alsoTo) {
		n.pushChange(g, by, who, change)
	}
}

func (n *Registry) pushChange(g *Group, by, to *people.Account, change Node) {
	for _, d := range to.Sorted() {
		if d.LoseGroupChange() {
			continue
		}
		node := Node{Tag: "notification", Attrs: attrs{
			"from": g.JID(), "type": "w:gp2", "id": n.NextID(), "t": wire.UnixNow(), "addressing_mode": wire.ShortForm(g.Form()),
		}, Content: []Node{change}}
		if by != nil {
			node.Attrs["participant"] = by.Address(g.Form(), 0)
			wire.Set(node.Attrs, "notify", by.PushName)
			wire.Set(node.Attrs, "participant_username", by.Username)
			if g.LidMode {
				wire.Set(node.Attrs, "participant_pn", by.Alternative(g.Form()))
			}
		}
		n.Push(d, node)
	}
}

// AnnounceBirth notifies members of a group that is new to them.
func (n *Registry) AnnounceBirth(g *Group, by *people.Account, key string, to ...*people.Account) {
	create := Node{Tag: "create", Attrs: attrs{"type": "new"}, Content: []Node{g.node()}}
	wire.Set(create.Attrs, "key", key)
	for _, who := range to {
		n.pushChange(g, by, who, create)
	}
}

// NewGroup registers a group; an empty id means a generated one. The caller holds Directory.Mu.
func (n *Registry) NewGroup(creator *people.Account, id, subject string, lidMode bool, members []*people.Account) *Group {
	now := time.Now()
	if id == "" {
		id = "120363" + strconv.FormatInt(now.Unix(), 10)[2:] + strconv.Itoa(1000+n.NextNumber())
	}
	g := &Group{
		id: id, LidMode: lidMode, Subject: subject, subjectAt: now, subjectBy: creator, creator: creator, CreatedAt: now,
		Members: make(map[*people.Account]*Member), version: 1, Limit: groupLimit, revoked: make(map[string]bool), offers: make(map[string]offer),
		left: make(map[*people.Account]bool), barred: make(map[*people.Account]bool),
	}
	g.add(creator, &Member{superAdmin: true})
	for _, a := range members {
		if g.Members[a] == nil {
			g.add(a, &Member{})
		}
	}
	n.Groups[id] = g
	return g
}

// GroupsOf returns the groups that an account is in, oldest first.
func (n *Registry) GroupsOf(a *people.Account) []*Group {
	var out []*Group
	for _, id := range slices.Sorted(maps.Keys(n.Groups)) {
		if g := n.Groups[id]; g.Members[a] != nil {
			out = append(out, g)
		}
	}
	return out
}

// MayAnswer reports whether a message is a reaction, which every member may send to a community's announcement group.
func (g *Group) MayAnswer(node *Node) bool {
	return !g.Community.IsEmpty() && wire.Text(node, "type") == "reaction"
}
