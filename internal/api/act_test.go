package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestMarkRead_UpToAMessageOrAll(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(say(grace, grace, "M2", "newest", 24*60))
	path := "/api/chats/" + string(grace) + "/read"
	for body, want := range map[string]string{`{"msgId":"M1"}`: "M1", `{}`: "", "": "", `{"msgId":null}`: ""} {
		var answer map[string]any
		s.Post(path, body).Want(http.StatusOK).Decode(&answer)
		shown := want
		if shown == "" { // the newest by the order of histories
			shown = answer["msgId"].(string)
			if shown != "M2" && shown != "OWN" {
				t.Errorf("%s: read up to %s", body, shown)
			}
		}
		if diff := cmp.Diff(map[string]any{"ok": true, "chatJid": string(grace), "msgId": shown}, answer); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
		if done := s.account.done(); done[len(done)-1] != "read "+string(grace)+" "+want {
			t.Errorf("%s: %v", body, done)
		}
	}
}

// The other name of a person is the same chat, and a chat without messages has none to
// be read up to.
func TestMarkRead_NamesTheChat(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID}, members(olden, "Olden", alan, me))
	var answer map[string]any
	s.Post("/api/chats/"+string(graceLID)+"/read", `{"msgId":"M1"}`).Want(http.StatusOK).Decode(&answer)
	if answer["chatJid"] != string(grace) {
		t.Errorf("answer %v", answer)
	}
	s.Post("/api/chats/"+string(olden)+"/read", "").Want(http.StatusOK).Decode(&answer)
	if answer["msgId"] != nil {
		t.Errorf("answer %v", answer)
	}
	s.Post("/api/chats/"+string(grace)+"/read", `{"msgId":"G1"}`).Want(http.StatusNotFound) // of another chat
}

func TestTyping_StatesAndTheirEnd(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, state := range []string{"typing", "recording", "paused"} {
		var answer map[string]any
		s.Post("/api/chats/"+string(club)+"/typing", map[string]any{"state": state}).Want(http.StatusOK).Decode(&answer)
		want := map[string]any{"ok": true, "chatJid": string(club), "state": state, "until": any("2026-11-21T12:00:00.000Z")}
		if state == "paused" {
			want["until"] = nil
		}
		if diff := cmp.Diff(want, answer); diff != "" {
			t.Error(diff)
		}
	}
	if want := []string{"typing " + string(club), "recording " + string(club), "paused " + string(club)}; !slices.Equal(s.account.done(), want) {
		t.Errorf("shown %v", s.account.done())
	}
}

func TestActs_RefuseBadInput(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, c := range []struct{ path, body, says string }{
		{"/read", `{"msgId":7}`, "msgId"},
		{"/read", `{"msgId":["M1"]}`, "msgId"},
		{"/read", `{"msgId":""}`, "msgId is empty"},
		{"/read", `{"upTo":"M1"}`, "upTo is not a field"},
		{"/read", `{"msgId":"M1","msgId":"M1"}`, "twice"},
		{"/read", `[]`, "object"},
		{"/typing", ``, "empty"},
		{"/typing", `{}`, "state"},
		{"/typing", `{"state":""}`, "state"},
		{"/typing", `{"state":true}`, "state"},
		{"/typing", `{"state":"Typing"}`, "state"},
		{"/typing", `{"state":"typing","seconds":60}`, "seconds is not a field"},
	} {
		got := s.Post("/api/chats/"+string(grace)+c.path, c.body)
		if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s %s: %d %s, want %q", c.path, c.body, got.Status, got.Body, c.says)
		}
		s.Post("/api/chats/15557654321"+c.path, `{"state":"typing"}`).Want(http.StatusBadRequest)
	}
	if done := s.account.done(); len(done) != 0 {
		t.Errorf("shown %v", done)
	}
}

// A repeated call reads nothing that came after the first one.
func TestMarkRead_AKeyReadsOnce(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	r := route{method: "POST", path: "/api/chats/" + string(grace) + "/read"}
	_, first, _ := s.callKeyed("k", r, "")
	s.know(say(grace, grace, "M9", "later", 48*60))
	if status, answer, replayed := s.callKeyed("k", r, ""); status != 200 || !replayed || answer["msgId"] != first["msgId"] {
		t.Errorf("%d %v, replayed %v", status, answer, replayed)
	}
	if done := s.account.done(); len(done) != 1 {
		t.Errorf("read %v", done)
	}
}
