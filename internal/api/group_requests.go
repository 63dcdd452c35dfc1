package api

import (
	"net/http"

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
	return s.answer(w, r, struct {
		JID      bridge.JID           `json:"jid"`
		Count    int                  `json:"count"`
		Requests []bridge.JoinRequest `json:"requests"`
	}{jid, len(requests), notNull(requests)})
}

// decideJoinRequests lets people in who ask for it, or rejects them.
func (s *server) decideJoinRequests(w http.ResponseWriter, r *http.Request) error {
	return s.changePeople(w, r, bridge.RequestActions(), "action must be approve or reject")
}
