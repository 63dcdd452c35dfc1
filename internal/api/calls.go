package api

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// maxCalls bounds a page of calls.
const maxCalls = 500

func (s *server) listCalls(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	calls := bridge.CallQuery{
		Chat:   q.chat("chat"),
		Since:  q.since(),
		Limit:  q.limit(maxCalls),
		Cursor: q.text("cursor"),
	}
	if q.err != nil {
		return q.err
	}
	if calls.Chat != "" {
		if err := s.see(r.Context(), calls.Chat); err != nil {
			return err
		}
	}
	calls.Only = callerOf(r.Context()).Chats
	page, err := s.store.Calls(r.Context(), calls)
	if err != nil {
		return err
	}
	return answerList(s, w, r, plainList("calls", page))
}

// call returns a stored call whose chat the token may see.
func (s *server) call(ctx context.Context, id string) (bridge.Call, error) {
	call, err := s.store.Call(ctx, id)
	if err != nil {
		return bridge.Call{}, err
	}
	if s.see(ctx, call.ChatJID) != nil {
		return bridge.Call{}, bridge.NoCall(id)
	}
	return call, nil
}

// rejectCall has a call ring no more.
func (s *server) rejectCall(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	var none struct{}
	body, err := s.bodies.decodeStrictOptional(w, r, &none)
	if err != nil {
		return err
	}
	var call bridge.Call
	return s.actOnce(w, r, body, act{
		lookUp: func(ctx context.Context) (err error) {
			if call, err = s.call(ctx, id); err == nil && call.State != bridge.CallRinging {
				err = bridge.NotRinging(call.State)
			}
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{ID: call.ID, Chat: call.ChatJID, Timestamp: bridge.At(s.now())}, s.account.RejectCall(ctx, call)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				ID      string     `json:"id"`
				ChatJID bridge.JID `json:"chatJid"`
			}{true, done.ID, s.canonical(done.Chat)}
		},
	})
}
