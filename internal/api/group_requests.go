package api

import (
	"context"
	"net/http"
	"slices"

	"bridged/internal/bridge"
)

// listJoinRequests answers who asks to be let into a group, as the network has it now.
func (s *server) listJoinRequests(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathGroup(r)
	if err != nil {
		return err
	}
	if _, err := s.chat(r.Context(), jid); err != nil {
		return err
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	requests, err := s.account.JoinRequests(r.Context(), jid)
	if err != nil {
		return err
	}
	if err := s.concealAsking(r.Context(), requests); err != nil {
		return err
	}
	return s.answer(w, r, struct {
		JID      bridge.JID           `json:"jid"`
		Count    int                  `json:"count"`
		Requests []bridge.JoinRequest `json:"requests"`
	}{jid, len(requests), notNull(requests)})
}

// concealAsking leaves of those of whom the caller may know nothing how the network
// named them.
func (s *server) concealAsking(ctx context.Context, requests []bridge.JoinRequest) error {
	named := make([]bridge.JID, len(requests))
	for i := range requests {
		named[i] = requests[i].Named
	}
	outside, err := s.outsiders(ctx, named...)
	if err != nil {
		return err
	}
	for i, request := range requests {
		if slices.Contains(outside, request.Named) {
			requests[i] = request.AsNamed()
		}
	}
	return nil
}

// decideJoinRequests lets people in who ask for it, or rejects them.
func (s *server) decideJoinRequests(w http.ResponseWriter, r *http.Request) error {
	return s.changePeople(w, r, bridge.RequestActions(), "action must be approve or reject")
}
