package api

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/bridge"
)

// readyTimeout bounds how long the store may take to answer a probe.
const readyTimeout = 2 * time.Second

// getHealth says that the process answers, and nothing more: it stays 200 while
// the socket is down, so that no supervisor restarts a bridge that is waiting.
func (s *server) getHealth(w http.ResponseWriter, r *http.Request) error {
	return s.answer(w, r, struct {
		OK bool        `json:"ok"`
		TS bridge.Time `json:"ts"`
	}{true, bridge.At(s.now())})
}

// getReadiness says whether reading and sending would work now.
func (s *server) getReadiness(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if _, err := s.store.Chats(ctx, bridge.ChatQuery{Type: bridge.ChatsAll, Limit: 1}); err != nil {
		if r.Context().Err() != nil {
			return err
		}
		return bridge.Fail(bridge.CodeStorageUnavailable, "the store does not answer").Because(err)
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	return s.answer(w, r, struct {
		OK     bool         `json:"ok"`
		TS     bridge.Time  `json:"ts"`
		Status bridge.State `json:"status"`
	}{true, bridge.At(s.now()), s.account.Status().Status})
}
