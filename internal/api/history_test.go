package api_test

import (
	"context"
	"net/http"
	"testing"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

// TestHistoryRequest_SaysWhatWasAsked: the phone is asked for what came before the
// oldest stored message of the chat, in either of its names.
func TestHistoryRequest_SaysWhatWasAsked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(members(club, "Readers", grace, me), say(grace, grace, "M2", "second", 2), say(grace, grace, "M1", "first", 1))
	var oldest bridge.Message
	var asked int
	s.account.askHistory = func(_ context.Context, m bridge.Message, count int) (string, error) {
		oldest, asked = m, count
		return "3EB0REQUEST", nil
	}
	for body, want := range map[string]int{"": 50, "{}": 50, `{"count":1}`: 1, `{"count":500}`: 500} {
		var answer struct {
			RequestID string
			ChatJID   bridge.JID
			Count     int
			Before    struct {
				MsgID     string
				Timestamp bridge.Time
			}
		}
		s.Post("/api/chats/"+string(grace)+"/history", body).Want(http.StatusOK).Decode(&answer)
		if answer.RequestID != "3EB0REQUEST" || answer.ChatJID != grace || answer.Count != want || answer.Before.MsgID != "M1" || answer.Before.Timestamp != oldest.Timestamp {
			t.Errorf("%s: %+v", body, answer)
		}
		if oldest.Chat != grace || oldest.ID != "M1" || asked != want {
			t.Errorf("%s: asked for %d before %+v", body, asked, oldest)
		}
	}
}

func TestHistoryRequest_IsRefused(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(members(club, "Readers", grace, me), say(grace, grace, "M1", "first", 1))
	off := newServer(t, func(o *api.Options) { o.HistoryImport = bridge.HistoryOff })
	for name, test := range map[string]struct {
		on         *server
		path, body string
		status     int
		code       string
	}{
		"switched off, whatever the rest": {off, "/api/chats/nonsense/history", `{"count":0}`, 403, "history_disabled"},
		"none":                            {s, "/api/chats/" + string(grace) + "/history", `{"count":0}`, 400, "invalid_request"},
		"too many":                        {s, "/api/chats/" + string(grace) + "/history", `{"count":501}`, 400, "invalid_request"},
		"unknown field":                   {s, "/api/chats/" + string(grace) + "/history", `{"limit":5}`, 400, "invalid_request"},
		"no chat":                         {s, "/api/chats/" + "15550009999@s.whatsapp.net" + "/history", "", 404, "not_found"},
		"nothing to ask from":             {s, "/api/chats/" + string(club) + "/history", "", 400, "invalid_request"},
	} {
		if got := test.on.Post(test.path, test.body); got.Status != test.status || got.Code() != test.code {
			t.Errorf("%s: %d %s, want %d %s", name, got.Status, got.Code(), test.status, test.code)
		}
	}
}

// TestHistoryRequest_SaysThatThereIsNoMore: the end of a chat's history is a conflict with a
// sentence, not a request that nothing answers.
func TestHistoryRequest_SaysThatThereIsNoMore(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(members(club, "Readers", grace, me), say(grace, grace, "M1", "first", 1))
	for end, want := range map[bridge.HistoryEnd]string{bridge.HistoryNoMore: "no_more_history", bridge.HistoryOnPhone: "only_on_phone"} {
		s.account.askHistory = func(context.Context, bridge.Message, int) (string, error) { return "", end.Refusal() }
		if got := s.Post("/api/chats/"+string(grace)+"/history", ""); got.Status != http.StatusConflict || got.Code() != want {
			t.Errorf("%d: %d %s, want 409 %s", end, got.Status, got.Code(), want)
		}
	}
}
