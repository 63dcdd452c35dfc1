package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func TestPin_WhatTheAccountSends(t *testing.T) {
	s := stocked(t)
	for method, want := range map[string]time.Duration{http.MethodPost: 30 * 24 * time.Hour, http.MethodDelete: 0} {
		body := ""
		if want > 0 {
			body = `{"duration":"30d"}`
		}
		var answer map[string]any
		s.Do(method, ownPath+"/pin", body).Want(http.StatusOK).Decode(&answer)
		if answer["msgId"] != "OWN" || answer["chatJid"] != string(grace) || answer["ok"] != true {
			t.Errorf("%s: answer %v", method, answer)
		}
		sent := s.account.sent()
		pin := sent[len(sent)-1].Content.(bridge.MessagePin)
		if pin.Target.ID != "OWN" || pin.Length != want {
			t.Errorf("%s: sent a pin of %s for %v", method, pin.Target.ID, pin.Length)
		}
	}
}

func TestPin_WhatCannotBePinned(t *testing.T) {
	s := stocked(t)
	s.know(bridge.Owner{PN: me}, withStatus(iSaid(grace, "PEND", "x"), bridge.DeliveryPending), withStatus(iSaid(grace, "FAIL", "x"), bridge.DeliveryFailed),
		iSaid(grace, "GONE", "x"), bridge.Deletion{Chat: grace, Target: "GONE", By: me, Timestamp: bridge.At(time.Now())})
	for id, why := range map[string]string{"PEND": "still being sent", "FAIL": "never sent", "GONE": "was deleted"} {
		got := s.Post("/api/chats/"+string(grace)+"/messages/"+id+"/pin", `{"duration":"24h"}`).Want(http.StatusBadRequest)
		if got.Code() != "invalid_request" || !strings.Contains(got.Error(), why) {
			t.Errorf("%s: %s %s, want %q", id, got.Code(), got.Error(), why)
		}
	}

	// If only admins may change a group, only they may pin in it.
	path := "/api/chats/" + string(club) + "/messages/G1/pin"
	s.Post(path, `{"duration":"24h"}`).Want(http.StatusOK)
	s.know(bridge.GroupChange{JID: club, IsLocked: new(true)})
	if got := s.Post(path, `{"duration":"24h"}`).Want(http.StatusBadRequest); got.Code() != "not_admin" {
		t.Errorf("%s %s", got.Code(), got.Error())
	}
	s.know(bridge.GroupChange{JID: club, Promoted: []bridge.JID{me}})
	s.Post(path, `{"duration":"24h"}`).Want(http.StatusOK)
}

func TestVote_ByTheNamesOfOptions(t *testing.T) {
	s := stocked(t)
	poll := withType(say(club, grace, "POLL", "When?", 0), "pollCreationMessageV3")
	poll.Poll = &bridge.PollTally{Name: "When?", SelectableCount: 1, Options: []bridge.PollOption{{Name: "now"}, {Name: "later"}}}
	s.know(poll)
	path := "/api/chats/" + string(club) + "/messages/POLL/vote"
	for body, want := range map[string][]string{`{"options":["later"]}`: {"later"}, `{"options":[]}`: {}} {
		s.Post(path, body).Want(http.StatusOK)
		sent := s.account.sent()
		if vote := sent[len(sent)-1].Content.(bridge.Vote); vote.Target.ID != "POLL" || !slices.Equal(vote.Options, want) {
			t.Errorf("%s: %v", body, vote.Options)
		}
	}
	before := len(s.account.sent())
	for body, why := range map[string]string{
		`{}`: "options is required", `{"options":null}`: "options is required", `{"options":"now"}`: "options", `{"options":["never"]}`: "not an option",
		`{"options":["now","now"]}`: "twice", `{"options":["now","later"]}`: "allows 1", `{"options":[` + strings.Repeat(`"",`, bridge.MaxPollOptions) + `""]}`: "at most",
	} {
		if got := s.Post(path, body).Want(http.StatusBadRequest); got.Code() != "invalid_request" || !strings.Contains(got.Error(), why) {
			t.Errorf("%.80s: %s, want %q", body, got.Error(), why)
		}
	}
	if got := s.Post(ownPath+"/vote", `{"options":[]}`).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "not a poll") {
		t.Error(got.Error())
	}
	if sent := s.account.sent(); len(sent) != before {
		t.Errorf("%d were sent", len(sent)-before)
	}
}

// TestStar_OnTheAccountsDevices: a star shows in the message, in the lists of starred messages and as
// one event.
func TestStar_OnTheAccountsDevices(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	starred := func(want string) {
		t.Helper()
		if got, _ := s.search("?starred=true"); got != want {
			t.Errorf("the search finds %q, want %q", got, want)
		}
		if got := s.history(graceHistory + "?starred=true").ids(); got != want {
			t.Errorf("the history has %q, want %q", got, want)
		}
	}
	starred("")
	var answer map[string]any
	s.Post(ownPath+"/star", "").Want(http.StatusOK).Decode(&answer)
	if answer["msgId"] != "OWN" || answer["chatJid"] != string(grace) || answer["ok"] != true {
		t.Errorf("answer %v", answer)
	}
	starred("OWN")
	s.Do(http.MethodDelete, ownPath+"/star", "").Want(http.StatusOK)
	starred("")
	if want := []string{"star " + string(grace) + " OWN true", "star " + string(grace) + " OWN false"}; !slices.Equal(s.account.done(), want) {
		t.Errorf("done %v", s.account.done())
	}
}

func TestStar_WhatCannotBeStarred(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Owner{PN: me}, withStatus(iSaid(grace, "PEND", "x"), bridge.DeliveryPending), withStatus(iSaid(grace, "FAIL", "x"), bridge.DeliveryFailed),
		iSaid(grace, "GONE", "x"), bridge.Deletion{Chat: grace, Target: "GONE", By: me, Timestamp: bridge.At(time.Now())})
	for id, why := range map[string]string{"PEND": "still being sent", "FAIL": "never sent", "GONE": "was deleted"} {
		got := s.Post("/api/chats/"+string(grace)+"/messages/"+id+"/star", "").Want(http.StatusBadRequest)
		if got.Code() != "invalid_request" || !strings.Contains(got.Error(), why) {
			t.Errorf("%s: %s %s, want %q", id, got.Code(), got.Error(), why)
		}
	}
}

// TestDeleteForMe_ErasesTheMessage: any message, also an old one of another person, a failed one and one
// from an export. The key of the call is not that of a deletion for everyone.
func TestDeleteForMe_ErasesTheMessage(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Owner{PN: me}, withStatus(iSaid(grace, "PEND", "x"), bridge.DeliveryPending), withStatus(iSaid(grace, "FAIL", "x"), bridge.DeliveryFailed))
	at := "/api/chats/" + string(grace) + "/messages/"
	for _, id := range []string{"M1", "FAIL"} {
		var answer map[string]any
		s.Do("DELETE", at+id+"?for=me", "").Want(http.StatusOK).Decode(&answer)
		if answer["ok"] != true || answer["msgId"] != id || answer["chatJid"] != string(grace) {
			t.Errorf("%s: answer %v", id, answer)
		}
		var got struct{ Message bridge.Message }
		s.Get(at + id).Want(http.StatusOK).Decode(&got)
		if got.Message.DeletedAt == nil || got.Message.Content != "" {
			t.Errorf("%s is stored as %+v", id, got.Message)
		}
		s.Do("DELETE", at+id+"?for=me", "").Want(http.StatusOK) // again
	}
	if got := s.Do("DELETE", at+"PEND?for=me", "").Want(http.StatusBadRequest); got.Code() != "not_deletable" {
		t.Errorf("a pending one: %s", got.Body)
	}
	if got := s.Do("DELETE", at+"OWN?for=all", "").Want(http.StatusBadRequest); !strings.Contains(got.Error(), "for must be one of everyone, me") {
		t.Errorf("%s", got.Body)
	}
	key := []string{"Idempotency-Key", "one"}
	s.Do("DELETE", at+"OWN?for=me", "", key...).Want(http.StatusOK)
	s.Do("DELETE", at+"OWN?for=everyone", "", key...).Want(http.StatusUnprocessableEntity)
	if sent := s.account.sent(); len(sent) != 0 {
		t.Errorf("%d were sent to others", len(sent))
	}
}
