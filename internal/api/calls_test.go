package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

// rings is a call that begins to ring at noon.
func rings(caller bridge.JID, id string) bridge.Call {
	return bridge.Call{ID: id, WireID: "wire " + id, ChatJID: caller, FromJID: caller, StartedAt: bridge.At(noon)}
}

// ended is the end of a call that its caller gives up.
func ended(caller bridge.JID, id string) bridge.CallChange {
	return bridge.CallChange{ID: id, Caller: caller, By: caller, State: bridge.CallEnded, At: bridge.At(noon)}
}

func TestCalls_List(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	nowhere := rings(alan, "U")
	nowhere.IsGroup, nowhere.IsVideo, nowhere.ChatJID = true, true, ""
	s.know(bridge.Identity{PN: grace, LID: graceLID}, rings(graceLID, "A"), nowhere, ended(grace, "A"))
	var page struct {
		Count      int
		Calls      []bridge.Call
		NextCursor *string
	}
	s.Get("/api/calls").Want(http.StatusOK).Decode(&page)
	at := bridge.At(noon)
	want := []bridge.Call{
		{ID: "U", FromJID: alan, IsGroup: true, IsVideo: true, State: bridge.CallRinging, StartedAt: at},
		{ID: "A", ChatJID: grace, FromJID: grace, FromLID: graceLID, State: bridge.CallMissed, StartedAt: at, EndedAt: &at},
	}
	if diff := cmp.Diff(want, page.Calls); diff != "" || page.Count != 2 || page.NextCursor != nil {
		t.Error(page.Count, page.NextCursor, diff)
	}
	for query, count := range map[string]int{"?chat=" + string(graceLID): 1, "?since=2026-11-21T12:00:00Z": 2, "?since=2026-11-21T12:00:00.001Z": 0, "?limit=1": 1} {
		s.Get("/api/calls" + query).Want(http.StatusOK).Decode(&page)
		if page.Count != count || (page.NextCursor != nil) != (query == "?limit=1") {
			t.Errorf("%s: %d calls, next %v", query, page.Count, page.NextCursor)
		}
	}
	for query, status := range map[string]int{"?chat=" + string(me): 404, "?chat=x": 400, "?limit=501": 400, "?limit=0": 400, "?since=noon": 400, "?cursor=x": 400, "?chat=status@broadcast": 400} {
		if got := s.Get("/api/calls" + query); got.Status != status {
			t.Errorf("%s: %d, want %d", query, got.Status, status)
		}
	}
}

func TestCalls_Reject(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	nowhere := rings(alan, "../odd id")
	nowhere.IsGroup, nowhere.ChatJID = true, ""
	s.know(rings(grace, "A"), rings(grace, "B"), rings(grace, "C"), ended(grace, "C"), nowhere)
	s.Do("POST", "/api/calls/A/reject", "", "Idempotency-Key", "k").Want(http.StatusOK)
	s.Post("/api/calls/"+bridge.PathID("../odd id")+"/reject", map[string]any{}).Want(http.StatusOK)
	if diff := cmp.Diff([]string{"reject wire A", "reject wire ../odd id"}, s.account.done()); diff != "" {
		t.Error(diff)
	}
	s.account.closed()
	if got := s.Do("POST", "/api/calls/A/reject", "", "Idempotency-Key", "k").Want(http.StatusOK); got.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("rejected again")
	}
	for _, c := range []struct {
		path, body, key string
		status          int
		code            string
	}{
		{"A", "", "", 409, "not_ringing"},
		{"A", "", "another", 409, "not_ringing"},
		{"C", "", "", 409, "not_ringing"},
		{"B", "", "", 503, "not_connected"},
		{"B", "", "k", 422, "idempotency_mismatch"},
		{"B", "", "two words", 400, "invalid_request"},
		{"B", `{"x":1}`, "", 400, "invalid_request"},
		{"NONE", "", "", 404, "not_found"},
		{"~!", "", "", 400, "invalid_request"},
	} {
		var headers []string
		if c.key != "" {
			headers = []string{"Idempotency-Key", c.key}
		}
		if got := s.Do("POST", "/api/calls/"+c.path+"/reject", c.body, headers...); got.Status != c.status || got.Code() != c.code {
			t.Errorf("%+v: %d %s", c, got.Status, got.Code())
		}
	}
	s.account.ready = func() error { return nil }
	s.account.refuseAll(bridge.Fail(bridge.CodeSendTimeout, "?"))
	s.Do("POST", "/api/calls/B/reject", "", "Idempotency-Key", "b").Want(http.StatusGatewayTimeout)
	s.account.act = newAccount(s.store).act
	s.Do("POST", "/api/calls/B/reject", "", "Idempotency-Key", "b").Want(http.StatusOK)
	s.Do("POST", "/api/calls/B/reject", strings.Repeat(" ", 1<<20+1)).Want(http.StatusRequestEntityTooLarge)
	closed := newServer(t, func(o *api.Options) { o.EnableSend = false })
	if got := closed.Do("POST", "/api/calls/A/reject", ""); got.Status != 403 || got.Code() != "send_disabled" {
		t.Errorf("with sending off: %d %s", got.Status, got.Code())
	}
}

// The log tells of calls, to whoever may see their chat.
func TestCalls_Events(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	nowhere := rings(alan, "U")
	nowhere.IsGroup, nowhere.ChatJID = true, ""
	s.know(rings(grace, "A"), nowhere, rings(alan, "B"), ended(grace, "A"))
	of := func(s *server) (told []string) {
		var page struct{ Events []bridge.Event }
		s.Get("/api/events?types=call.created,call.updated").Want(http.StatusOK).Decode(&page)
		for _, e := range page.Events {
			told = append(told, string(e.Type)+" "+e.Call.ID+" "+string(e.Call.State)+" "+string(e.ChatJID))
		}
		return told
	}
	want := []string{"call.created A missed " + string(grace), "call.created U ringing ", "call.created B ringing " + string(alan), "call.updated A missed " + string(grace)}
	if diff := cmp.Diff(want, of(s)); diff != "" {
		t.Error(diff)
	}
	limited := s.as(s.token(`{"name":"x","scopes":["read"],"chats":["` + string(grace) + `"]}`))
	if diff := cmp.Diff([]string{want[0], want[3]}, of(limited)); diff != "" {
		t.Error("limited:", diff)
	}
}
