package groups

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// groupPeople are the people in a change of a group.
type groupPeople struct {
	results []bridge.ParticipantResult
	wire    []types.JID // the JID of each for the network; empty for people who are not on WhatsApp
}

// groupPeople looks people up. The network gets their LIDs or their numbers, depending on byLID.
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
		out.wire[i] = cmp.Or(pn, lid)
		if byLID {
			out.wire[i] = cmp.Or(lid, pn)
		}
		person := cmp.Or(convert.JID(pn), asked)
		out.results[i] = bridge.ParticipantResult{JID: c.gs.o.Store.Canonical(person), LID: convert.JID(lid)}
		if out.wire[i].IsEmpty() {
			out.fail(i, bridge.ParticipantNotOnNetwork, "is not on WhatsApp: check the number (E.164 digits with country code)")
		}
	}
	return out, nil
}

// identities returns a person's number and LID as far as they are known. Both are empty for a
// number that is not on WhatsApp.
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

func (g *groupPeople) fail(i int, status bridge.ParticipantStatus, sentence string) {
	g.results[i].Status, g.results[i].Error = status, &sentence
}

// found reports whether any of the people is on WhatsApp.
func (g *groupPeople) found() bool {
	return slices.ContainsFunc(g.wire, func(jid types.JID) bool { return !jid.IsEmpty() })
}

// participantNodes returns the people in the form of a query. If they are being added, their
// trusted-contact tokens are included.
func (c *conn) participantNodes(ctx context.Context, people *groupPeople, adding bool) ([]waBinary.Node, error) {
	var nodes []waBinary.Node
	for _, jid := range people.wire {
		if jid.IsEmpty() {
			continue
		}
		node := waBinary.Node{Tag: "participant", Attrs: waBinary.Attrs{"jid": jid}}
		if adding && jid.Server == types.HiddenUserServer {
			pn, err := c.NumberOf(ctx, jid)
			if err != nil {
				return nil, err
			}
			if !pn.IsEmpty() {
				node.Attrs["phone_number"] = pn.ToNonAD()
			}
		}
		if adding {
			token, err := c.TrustToken(ctx, jid)
			if err != nil {
				return nil, err
			}
			if len(token) > 0 {
				node.Content = []waBinary.Node{{Tag: "privacy", Content: token}}
			}
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// read reads the network's answer for each person. again means that an earlier attempt may have
// made the change.
func (g *groupPeople) read(answer waBinary.Node, action bridge.ParticipantAction, again bool) {
	entries := make(map[types.JID]*waBinary.Node) // by all JIDs of a person
	for _, entry := range answer.GetChildrenByTag("participant") {
		for _, form := range convert.PersonForms {
			if jid, ok := entry.Attrs[form].(types.JID); ok {
				entries[jid.ToNonAD()] = &entry
			}
		}
	}
	for i := range g.results {
		result := &g.results[i]
		if result.Status != "" {
			continue
		}
		// The network may answer with another JID than the one in the query.
		entry := cmp.Or(entries[g.wire[i]], entries[convert.WireJID(result.JID)], entries[convert.WireJID(result.LID)])
		if entry == nil {
			g.fail(i, bridge.ParticipantRefused, "the network said nothing of this person: look at the group")
			continue
		}
		for _, form := range convert.PersonForms {
			jid, _ := entry.Attrs[form].(types.JID)
			switch known := convert.JID(jid); {
			case known.Server() == bridge.ServerUser && result.JID.IsLID():
				result.JID = known
			case known.IsLID() && result.LID == "":
				result.LID = known
			}
		}
		code := entry.AttrGetter().OptionalInt("error")
		if wasMade(code, action, again) {
			result.Status = bridge.ParticipantDone
			continue
		}
		status, sentence := refusedPerson(code, action)
		if request, ok := entry.GetOptionalChildByTag("add_request"); ok {
			attrs := request.AttrGetter()
			result.Invite = &bridge.PersonalInvite{Code: attrs.OptionalString("code"), ExpiresAt: bridge.At(attrs.OptionalUnixTime("expiration"))}
			status = bridge.ParticipantInvite
		}
		g.fail(i, status, sentence)
	}
}

// wasMade reports whether the network made the change for a person, or had made it before.
func wasMade(code int, action bridge.ParticipantAction, again bool) bool {
	switch code {
	case 0, 200:
		return true
	case codeConflict:
		return again && (action == bridge.ParticipantAdd || action == bridge.ParticipantApprove)
	case codeNotFound:
		return again && (action == bridge.ParticipantRemove || action.IsDecision())
	}
	return false
}

// refusedPerson returns the meaning of the code for one person.
func refusedPerson(code int, action bridge.ParticipantAction) (bridge.ParticipantStatus, string) {
	adding := action == bridge.ParticipantAdd
	joining := adding || action == bridge.ParticipantApprove
	switch {
	case code == codeNotFound && action.IsDecision():
		return bridge.ParticipantNoRequest, "does not ask to be let in, or not any more"
	case action == bridge.ParticipantReject:
	case code == codeConflict && joining:
		return bridge.ParticipantAlready, "is in the group already"
	case code == codeFull && joining:
		return bridge.ParticipantFull, "the group has reached its maximum number of members"
	case code == codeForbidden && adding:
		return bridge.ParticipantInvite, "lets only some people add them to groups: send them the group's link, or the invitation"
	case code == codeLeft && adding:
		return bridge.ParticipantRecentlyLeft, "left the group a short while ago: send them the group's link"
	case code == codeNotFound && adding:
		return bridge.ParticipantNotOnNetwork, "is not on WhatsApp: check the number (E.164 digits with country code)"
	case code == codeNotFound:
		return bridge.ParticipantNotMember, "is not a member of the group"
	case code == codeNotAllowed && !adding:
		return bridge.ParticipantRefused, "founded the group, and a founder cannot be removed or demoted (code 405)"
	case code == codeUnauthorized && adding:
		return bridge.ParticipantRefused, "has blocked this account, or may not be added (code 401)"
	}
	return bridge.ParticipantRefused, "was refused by the network (code " + strconv.Itoa(code) + ")"
}

// named returns the results with the JIDs that the store has for the people now: the network's
// answer may have added a number.
func (g *groupPeople) named(store Store) []bridge.ParticipantResult {
	for i := range g.results {
		g.results[i].JID = store.Canonical(g.results[i].JID)
	}
	return g.results
}

// done returns the people that were changed.
func (g *groupPeople) done() (members []bridge.Participant, wire []types.JID) {
	for i, result := range g.results {
		if result.Status == bridge.ParticipantDone {
			members = append(members, bridge.Participant{JID: result.JID, LID: result.LID})
			wire = append(wire, g.wire[i])
		}
	}
	return members, wire
}
