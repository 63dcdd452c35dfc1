package groups

import (
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// read takes over what the network says became of each person. With again, the
// first try may have made the change already.
func (g *groupPeople) read(answer waBinary.Node, action bridge.ParticipantAction, again bool) {
	entries := entriesOf(answer)
	for i := range g.results {
		if g.results[i].Status != "" {
			continue
		}
		entry := g.entry(i, entries)
		if entry == nil {
			g.fail(i, bridge.ParticipantRefused, "the network said nothing of this person: look at the group")
			continue
		}
		g.learn(i, entry)
		g.readOne(i, entry, action, again)
	}
}

// entriesOf returns the people of an answer, by all their names.
func entriesOf(answer waBinary.Node) map[types.JID]*waBinary.Node {
	entries := make(map[types.JID]*waBinary.Node)
	for _, entry := range answer.GetChildrenByTag("participant") {
		for _, form := range convert.PersonForms {
			if jid, ok := entry.Attrs[form].(types.JID); ok {
				entries[jid.ToNonAD()] = &entry
			}
		}
	}
	return entries
}

// entry returns what the network says of a person, which may be under another
// name than the person was given to it.
func (g *groupPeople) entry(i int, entries map[types.JID]*waBinary.Node) *waBinary.Node {
	for _, name := range []types.JID{g.wire[i], convert.WireJID(g.results[i].JID), convert.WireJID(g.results[i].LID)} {
		if entry := entries[name]; entry != nil {
			return entry
		}
	}
	return nil
}

// learn takes over a person's number and LID.
func (g *groupPeople) learn(i int, entry *waBinary.Node) {
	for _, form := range convert.PersonForms {
		jid, _ := entry.Attrs[form].(types.JID)
		switch known := convert.JID(jid); {
		case known.Server() == bridge.ServerUser && g.results[i].JID.IsLID():
			g.results[i].JID = known
		case known.IsLID() && g.results[i].LID == "":
			g.results[i].LID = known
		}
	}
}

func (g *groupPeople) readOne(i int, entry *waBinary.Node, action bridge.ParticipantAction, again bool) {
	ag := entry.AttrGetter()
	code := ag.OptionalInt("error")
	if wasMade(code, action, again) {
		g.results[i].Status = bridge.ParticipantDone
		return
	}
	if request, ok := entry.GetOptionalChildByTag("add_request"); ok {
		request := request.AttrGetter()
		g.results[i].Invite = &bridge.PersonalInvite{Code: request.OptionalString("code"), ExpiresAt: bridge.At(request.OptionalUnixTime("expiration"))}
	}
	status, sentence := refusedPerson(code, action)
	if g.results[i].Invite != nil {
		status = bridge.ParticipantInvite
	}
	g.fail(i, status, sentence)
}

// wasMade reports whether the network made the change for a person, or found it
// made.
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

// refusedPerson returns what a person's code means.
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
		return bridge.ParticipantFull, "does not fit: the group has as many members as it may have"
	case code == codeForbidden && adding:
		return bridge.ParticipantInvite, "lets only some people add them to groups: send them the group's link, or the invitation"
	case code == codeLeft && adding:
		return bridge.ParticipantRecentlyLeft, "left the group a short while ago: send them the group's link"
	case code == codeNotFound && adding:
		return bridge.ParticipantNotOnNetwork, "is not on WhatsApp: check the number (E.164 digits with country code)"
	case code == codeNotFound:
		return bridge.ParticipantNotMember, "is not a member of the group"
	case code == codeNotAllowed && !adding:
		return bridge.ParticipantRefused, "founded the group: nobody removes or demotes its founder (code 405)"
	case code == codeUnauthorized && adding:
		return bridge.ParticipantRefused, "has blocked this account, or may not be added (code 401)"
	}
	return bridge.ParticipantRefused, "was refused by the network (code " + strconv.Itoa(code) + ")"
}

// named returns what became of each, under the JID that the store knows the
// person by now: the network may have named a number.
func (g *groupPeople) named(store Store) []bridge.ParticipantResult {
	for i := range g.results {
		g.results[i].JID = store.Canonical(g.results[i].JID)
	}
	return g.results
}

// done returns for whom the change was made.
func (g *groupPeople) done() (members []bridge.Participant, wire []types.JID) {
	for i, result := range g.results {
		if result.Status == bridge.ParticipantDone {
			members = append(members, bridge.Participant{JID: result.JID, LID: result.LID})
			wire = append(wire, g.wire[i])
		}
	}
	return members, wire
}
