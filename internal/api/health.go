package api

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/bridge"
)

// readyTimeout bounds the store's answer to a probe.
const readyTimeout = 2 * time.Second

// getHealth answers 200 as long as the process runs, also while the account is
// not open, so that no supervisor restarts a bridge that is waiting.
func (s *server) getHealth(w http.ResponseWriter, r *http.Request) error {
	return s.answer(w, r, struct {
		OK bool        `json:"ok"`
		TS bridge.Time `json:"ts"`
	}{true, bridge.At(s.now())})
}

// getReadiness answers 200 if reading and sending would work now.
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
