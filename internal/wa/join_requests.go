package wa

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
)

// What the library does not read of a group's notifications, and the request that
// decides about those who ask.
const (
	tagAsked     = "created_membership_requests"
	tagAskNoMore = "revoked_membership_requests"
	tagDecision  = "membership_requests_action"
)

// readUnknownChanges reads what the library leaves unread of a notification.
func readUnknownChanges(e *events.GroupInfo, change *bridge.GroupChange) {
	for _, unknown := range e.UnknownChanges {
		switch unknown.Tag {
		case tagApprovalOff:
			off := false
			change.JoinApproval = &off
		case tagAsked:
			change.Asked = append(change.Asked, askingIn(e, unknown)...)
		case tagAskNoMore:
			change.AskNoMore = append(change.AskNoMore, askingIn(e, unknown)...)
		}
	}
}

// askingIn returns whom a change of requests names: the apps name them as requested
// users, others as participants. Who comes by the link alone may be named as the
// sender only.
func askingIn(e *events.GroupInfo, change *waBinary.Node) (people []bridge.Participant) {
	for _, child := range change.GetChildren() {
		if child.Tag == "requested_user" || child.Tag == "participant" {
			people = appendAsking(people, child.Attrs, personForms...)
		}
	}
	method, _ := change.Attrs["request_method"].(string)
	if len(people) == 0 && e.Sender != nil && (method == "" || method == "invite_link") {
		named := waBinary.Attrs{"jid": *e.Sender}
		if e.SenderPN != nil {
			named["phone_number"] = *e.SenderPN
		}
		people = appendAsking(people, named, personForms...)
	}
	return people
}

// appendAsking appends the person whom some attributes name, in one form or both.
func appendAsking(people []bridge.Participant, named waBinary.Attrs, forms ...string) []bridge.Participant {
	var p bridge.Participant
	for _, form := range forms {
		jid, _ := named[form].(types.JID)
		switch known := toBridge(jid); {
		case known.IsLID():
			p.LID = known
		case known.IsPerson():
			p.JID = known
		}
	}
	if p.JID == "" {
		p.JID = p.LID
	}
	if p.JID == "" {
		return people
	}
	return append(people, p)
}

// JoinRequests returns who asks to be let into a group. Only admins may see it.
func (m *Manager) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := m.within(ctx, groupTimeout)
	defer cancel()
	asking, err := l.cli.GetGroupRequestParticipants(ctx, toWA(jid))
	switch {
	case iqCode(err) != 0:
		return nil, l.groupRefusal(ctx, jid, err)
	case err != nil:
		return nil, groupError(err)
	}
	requests := make([]bridge.JoinRequest, 0, len(asking))
	for _, one := range asking {
		person := toBridge(one.JID)
		if person == "" {
			continue
		}
		request := m.store.Asking(person, nil)
		if !one.RequestedAt.IsZero() {
			at := bridge.At(one.RequestedAt)
			request.RequestedAt = &at
		}
		requests = append(requests, request)
	}
	return requests, nil
}
