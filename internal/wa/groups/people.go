package groups

import (
	"context"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// groupPeople are the people whom a change of a group names.
type groupPeople struct {
	results []bridge.ParticipantResult
	wire    []types.JID // how the network is to know each; empty for those who are not on it
}

// groupPeople finds out how the network knows people: by their LIDs or by their
// numbers, as the group does.
func (c *conn) groupPeople(ctx context.Context, byLID bool, people []bridge.JID) (*groupPeople, error) {
	if err := c.LookUpAll(ctx, people); err != nil {
		return nil, err
	}
	out := &groupPeople{results: make([]bridge.ParticipantResult, len(people)), wire: make([]types.JID, len(people))}
	for i, asked := range people {
		pn, lid, err := c.identities(ctx, asked)
		if err != nil {
			return nil, err
		}
		switch {
		case byLID && !lid.IsEmpty(), pn.IsEmpty():
			out.wire[i] = lid
		default:
			out.wire[i] = pn
		}
		person := asked
		if !pn.IsEmpty() {
			person = convert.JID(pn)
		}
		out.results[i] = bridge.ParticipantResult{JID: c.gs.o.Store.Canonical(person), LID: convert.JID(lid)}
		if out.wire[i].IsEmpty() {
			out.fail(i, bridge.ParticipantNotOnNetwork, "is not on WhatsApp: check the number (E.164 digits with country code)")
		}
	}
	return out, nil
}

// identities returns a person's number and LID as far as they are known. Both
// are empty where nobody on the network has the number.
func (c *conn) identities(ctx context.Context, person bridge.JID) (pn, lid types.JID, err error) {
	person = c.gs.o.Store.Canonical(person)
	if person.IsLID() {
		lid = convert.WireJID(person)
		pn, err = c.NumberOf(ctx, lid)
		return pn.ToNonAD(), lid, err
	}
	pn, err = c.NumberExists(ctx, convert.WireJID(person))
	if bridge.CodeOf(err) == bridge.CodeNotOnNetwork {
		return types.EmptyJID, types.EmptyJID, nil
	}
	if err != nil || pn.Server == types.HiddenUserServer {
		return types.EmptyJID, pn, err
	}
	lid, err = c.LIDOf(ctx, pn)
	return pn, lid.ToNonAD(), err
}

// fail notes why the change was not made for a person.
func (g *groupPeople) fail(i int, status bridge.ParticipantStatus, sentence string) {
	g.results[i].Status, g.results[i].Error = status, &sentence
}

// found reports whether anybody is on the network.
func (g *groupPeople) found() bool {
	return slices.ContainsFunc(g.wire, func(jid types.JID) bool { return !jid.IsEmpty() })
}

// participantNodes returns the people as a query names them. Who is added is shown the token
// by which they know the account.
func (c *conn) participantNodes(ctx context.Context, people *groupPeople, adding bool) ([]waBinary.Node, error) {
	var nodes []waBinary.Node
	for _, jid := range people.wire {
		if jid.IsEmpty() {
			continue
		}
		node := waBinary.Node{Tag: "participant", Attrs: waBinary.Attrs{"jid": jid}}
		if adding {
			if err := c.introduce(ctx, jid, &node); err != nil {
				return nil, err
			}
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func (c *conn) introduce(ctx context.Context, jid types.JID, node *waBinary.Node) error {
	if jid.Server == types.HiddenUserServer {
		pn, err := c.NumberOf(ctx, jid)
		if err != nil {
			return err
		}
		if !pn.IsEmpty() {
			node.Attrs["phone_number"] = pn.ToNonAD()
		}
	}
	token, err := c.TrustToken(ctx, jid)
	if err == nil && len(token) > 0 {
		node.Content = []waBinary.Node{{Tag: "privacy", Content: token}}
	}
	return err
}
