package wa

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// tagDecision is the request that decides about those who ask.
const tagDecision = "membership_requests_action"

// JoinRequests returns who asks to be let into a group. Only admins may see it.
func (m *Manager) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	l, err := m.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := m.within(ctx, groupTimeout)
	defer cancel()
	asking, err := l.cli.GetGroupRequestParticipants(ctx, convert.WireJID(jid))
	switch {
	case iqCode(err) != 0:
		return nil, l.groupRefusal(ctx, jid, err)
	case err != nil:
		return nil, groupError(err)
	}
	requests := make([]bridge.JoinRequest, 0, len(asking))
	for _, one := range asking {
		person := convert.JID(one.JID)
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
