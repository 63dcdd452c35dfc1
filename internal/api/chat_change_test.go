package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// What a request leaves out stays, null unmutes, and the answer says what changed.
func TestUpdateChat_ChangesWhatIsNamed(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	for _, c := range []struct {
		chat          bridge.JID
		body, patch   string
		changed, name string
	}{
		{grace, `{"archived":true}`, `{"Archived":true,"Pinned":null,"MutedUntil":null,"Unread":null,"Expiration":null}`, "archived", string(grace)},
		{graceLID, `{"pinned":false,"archived":null}`, `{"Archived":null,"Pinned":false,"MutedUntil":null,"Unread":null,"Expiration":null}`, "pinned", string(grace)},
		{club, `{"unread":false}`, `{"Archived":null,"Pinned":null,"MutedUntil":null,"Unread":false,"Expiration":null}`, "unread", string(club)},
		{grace, `{"disappearingSeconds":604800}`, `{"Archived":null,"Pinned":null,"MutedUntil":null,"Unread":null,"Expiration":604800}`, "disappearingSeconds", string(grace)},
		{club, `{"mutedUntil":"forever"}`, `{"Archived":null,"Pinned":null,"MutedUntil":"9999-12-31T23:59:59.999Z","Unread":null,"Expiration":null}`, "mutedUntil", string(club)},
		{club, `{"mutedUntil":"9999-12-31T23:59:59.999Z"}`, `{"Archived":null,"Pinned":null,"MutedUntil":"9999-12-31T23:59:59.999Z","Unread":null,"Expiration":null}`, "mutedUntil", string(club)},
		{club, `{"mutedUntil":"2127-01-31T02:00:00+02:00"}`, `{"Archived":null,"Pinned":null,"MutedUntil":"2127-01-31T00:00:00.000Z","Unread":null,"Expiration":null}`, "mutedUntil", string(club)},
		{
			club, `{"mutedUntil":null,"archived":false,"pinned":true,"unread":true}`, `{"Archived":false,"Pinned":true,"MutedUntil":"0001-01-01T00:00:00.000Z","Unread":true,"Expiration":null}`,
			"archived,pinned,mutedUntil,unread", string(club),
		},
	} {
		var answer struct {
			OK      bool
			ChatJID string
			Changed []string
		}
		s.Do("PATCH", "/api/chats/"+string(c.chat), c.body).Want(http.StatusOK).Decode(&answer)
		if got := strings.Join(answer.Changed, ","); !answer.OK || answer.ChatJID != c.name || got != c.changed {
			t.Errorf("%s: answer %+v", c.body, answer)
		}
		done := s.account.done()
		if diff := cmp.Diff("update "+c.name+" "+c.patch, done[len(done)-1]); diff != "" {
			t.Errorf("%s: %s", c.body, diff)
		}
	}
}

// The timer of a group belongs to its settings.
func TestUpdateChat_RefusesTheTimerOfAGroup(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	if got := s.Do("PATCH", "/api/chats/"+string(club), `{"disappearingSeconds":0}`).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "PATCH /api/groups/{jid}") {
		t.Errorf("%s", got.Body)
	}
}

func TestUpdateChat_RefusesBadInput(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, c := range []struct{ body, says string }{
		{``, "empty"},
		{`{}`, "at least one of archived, pinned, mutedUntil, unread and disappearingSeconds"},
		{`{"archived":null}`, "at least one of"},
		{`{"disappearingSeconds":3600}`, "0, 86400, 604800 or 7776000"},
		{`{"disappearingSeconds":"1d"}`, "disappearingSeconds"},
		{`{"archived":"yes"}`, "archived must be true or false"},
		{`{"archived":true,"pinned":true}`, "cannot both be true"},
		{`{"mutedUntil":"2020-01-31T00:00:00Z"}`, "time in the future"},
		{`{"mutedUntil":"tomorrow"}`, "time in the future"},
		{`{"mutedUntil":"Forever"}`, "time in the future"},
		{`{"mutedUntil":""}`, "time in the future"},
		{`{"mutedUntil":3600}`, "time in the future"},
		{`{"muted":true}`, "muted is not a field"},
	} {
		got := s.Do("PATCH", "/api/chats/"+string(grace), c.body)
		if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s: %d %s, want %q", c.body, got.Status, got.Body, c.says)
		}
	}
	s.Do("PATCH", "/api/chats/status@broadcast", `{"pinned":true}`).Want(http.StatusBadRequest)
	if done := s.account.done(); len(done) != 0 {
		t.Errorf("changed %v", done)
	}
}

// What was changed before a refusal stays, and the error says so.
func TestUpdateChat_SaysWhatWasChangedBeforeItFailed(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.account.refuseAll(bridge.AfterChanges([]string{"pinned"}, "mutedUntil", bridge.Fail(bridge.CodeSendRefused, "the network refused the change")))
	var answer struct{ Changed []string }
	got := s.Do("PATCH", "/api/chats/"+string(grace), `{"pinned":true,"mutedUntil":"forever"}`)
	got.Decode(&answer)
	if got.Status != http.StatusBadGateway || !strings.Contains(got.Error(), "changed pinned; then mutedUntil was not: the network refused the change") || len(answer.Changed) != 1 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestClear_WhatTheAccountIsAsked: a chat is cleared or deleted once that is confirmed; a group only after
// the account has left it.
func TestClear_WhatTheAccountIsAsked(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	yes := []string{"X-Confirm-Wipe", "yes"}
	for _, call := range []struct{ method, path, body string }{
		{"DELETE", "/api/chats/" + string(grace), ""},
		{"POST", "/api/chats/" + string(club) + "/clear", ""},
		{"POST", "/api/chats/" + string(club) + "/clear", `{"keepStarred":true}`},
	} {
		if got := s.Do(call.method, call.path, call.body).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "X-Confirm-Wipe: yes") {
			t.Errorf("%s", got.Body)
		}
		s.Do(call.method, call.path, call.body, yes...).Want(http.StatusOK)
	}
	s.know(bridge.Group{JID: club, Name: "Readers", Participants: []bridge.Participant{{JID: grace}, {JID: me}}})
	if got := s.Do("DELETE", "/api/chats/"+string(club), "", yes...).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "leave it first") {
		t.Errorf("%s", got.Body)
	}
	s.know(bridge.GroupChange{JID: club, Left: []bridge.JID{me}})
	s.Do("DELETE", "/api/chats/"+string(club), "", yes...).Want(http.StatusOK)
	want := []string{
		"clear " + string(grace) + ", starred stay: false, deleted: true", "clear " + string(club) + ", starred stay: false, deleted: false",
		"clear " + string(club) + ", starred stay: true, deleted: false", "clear " + string(club) + ", starred stay: false, deleted: true",
	}
	if diff := cmp.Diff(want, s.account.done()); diff != "" {
		t.Error(diff)
	}
}
