package server

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// answerBlocklist changes or lists the people whom an account blocks. They are named by LID alone.
func (n *Server) answerBlocklist(d *people.Device, node *Node, setting bool) wire.Answer {
	if !setting {
		return wire.Result(blocklistNode(d.Account))
	}
	item, ok := wire.Child(node, "item")
	person := wire.JID(item, "jid")
	if !ok || person.Server != types.HiddenUserServer || n.AccountOf(person) == nil || n.AccountOf(person) == d.Account {
		return wire.BadRequest
	}
	before := blocklistHash(d.Account)
	if wire.Text(item, "action") == "block" {
		d.Account.Blocked[person] = struct{}{}
	} else {
		delete(d.Account.Blocked, person)
	}
	n.blocklistChanged(d, before, *item)
	return wire.Result(Node{Tag: "list", Attrs: attrs{"dhash": blocklistHash(d.Account), "matched": "true"}})
}

func blocklistNode(a *people.Account) Node {
	var items []Node
	for _, person := range slices.SortedFunc(maps.Keys(a.Blocked), func(x, y types.JID) int { return strings.Compare(x.User, y.User) }) {
		items = append(items, Node{Tag: "item", Attrs: attrs{"jid": person}})
	}
	return Node{Tag: "list", Attrs: attrs{"dhash": blocklistHash(a)}, Content: items}
}

func blocklistHash(a *people.Account) string { return strconv.Itoa(len(a.Blocked)) }

// blocklistChanged notifies the account's other devices, with the change or, for an account that [people.Account.HideBlocks], without.
func (n *Server) blocklistChanged(d *people.Device, before string, item Node) {
	change := Node{Tag: "blocklist", Attrs: attrs{"dhash": blocklistHash(d.Account), "prev_dhash": before}, Content: []Node{
		{Tag: "item", Attrs: attrs{"jid": wire.JID(&item, "jid"), "action": wire.Text(&item, "action")}},
	}}
	if d.Account.BlocksHidden {
		change.Attrs["action"], change.Content = "modify", nil
	}
	n.accountChanged(d, change)
}
