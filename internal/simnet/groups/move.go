package groups

import (
	"slices"

	"bridged/internal/simnet/people"
)

// MoveMember gives a member's place in all groups to the account that follows theirs, and announces it to the others unless quiet. The caller
// holds Mu.
func (n *Registry) MoveMember(old, now *people.Account, quiet bool) {
	for _, g := range n.GroupsOf(old) {
		g.Members[now] = g.Members[old]
		delete(g.Members, old)
		at := slices.Index(g.memberOrder, old)
		g.memberOrder = slices.Clone(g.memberOrder)
		g.memberOrder[at] = now
		change := Node{Tag: "modify", Attrs: g.bump(), Content: g.participantNodes([]*people.Account{now})}
		if !quiet {
			n.announceChange(g, old, change)
		}
	}
}
