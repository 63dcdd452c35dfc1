package groups

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// tagDecision is the request that decides about those who ask.
const tagDecision = "membership_requests_action"

// JoinRequests returns who asks to be let into a group. Only admins may see it.
func (gs *Groups) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	ctx, c, end, err := gs.begin(ctx, queryTimeout)
	if err != nil {
		return nil, err
	}
	defer end()
	asking, err := c.GetGroupRequestParticipants(ctx, convert.WireJID(jid))
	switch {
	case iqCode(err) != 0:
		return nil, c.refusal(ctx, jid, err)
	case err != nil:
		return nil, QueryError(err)
	}
	requests := make([]bridge.JoinRequest, 0, len(asking))
	for _, one := range asking {
		person := convert.JID(one.JID)
		if person == "" {
			continue
		}
		request := gs.o.Store.Asking(person, nil)
		if !one.RequestedAt.IsZero() {
			at := bridge.At(one.RequestedAt)
			request.RequestedAt = &at
		}
		requests = append(requests, request)
	}
	return requests, nil
}
