package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

const ownPath = "/api/chats/" + string(grace) + "/messages/OWN"

// old returns a message as it was sent so long ago.
func old(m bridge.Message, age time.Duration) bridge.Message {
	m.Timestamp = bridge.At(time.Now().Add(-age))
	return m
}

func withStatus(m bridge.Message, status bridge.Delivery) bridge.Message {
	m.Status = &status
	return m
}

func withType(m bridge.Message, kind string) bridge.Message {
	m.MessageType = kind
	return m
}

// refused tries a method on stored messages, and looks for a reason in the sentence.
func (s *server) refused(method, body, code string, reasons map[string]string) {
	s.t.Helper()
	for id, why := range reasons {
		chat := grace
		if id == "G1" {
			chat = club
		}
		got := s.Do(method, "/api/chats/"+string(chat)+"/messages/"+id, body).Want(http.StatusBadRequest)
		if got.Code() != code || !strings.Contains(got.Error(), why) {
			s.t.Errorf("%s: %s %s, want %q", id, got.Code(), got.Error(), why)
		}
	}
	if sent := s.account.sent(); len(sent) != 0 {
		s.t.Errorf("sent: %+v", sent)
	}
}

func TestEdit_WhatCannotBeEdited(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	once, forwarded := withType(iSaid(grace, "ONCE", "look"), "imageMessage"), iSaid(grace, "FWD", "passed on")
	once.ViewOnce, forwarded.IsForwarded = true, true
	s.know(old(iSaid(grace, "LATE", "x"), 16*time.Minute), withStatus(iSaid(grace, "PEND", "x"), bridge.DeliveryPending),
		withStatus(iSaid(grace, "FAIL", "x"), bridge.DeliveryFailed), once, forwarded, withType(iSaid(grace, "BARE", ""), "imageMessage"),
		withType(iSaid(grace, "POLL", "When?"), "pollCreationMessageV3"), withType(iSaid(grace, "LOST", ""), bridge.TypeUndecryptable),
		iSaid(grace, "GONE", "x"), bridge.Deletion{Chat: grace, Target: "GONE", By: me, Timestamp: bridge.At(time.Now())})
	s.refused(http.MethodPatch, `{"text":"better"}`, "not_editable", map[string]string{
		"M1": "written by another person", "LATE": "older than 15 minutes", "PEND": "still being sent", "FAIL": "never sent", "ONCE": "only once", "FWD": "forwarded",
		"BARE": "without a caption", "POLL": "only texts", "LOST": "decrypted", "GONE": "was deleted",
	})
	s.account.closed() // permanent reasons come first
	s.refused(http.MethodPatch, `{"text":"better"}`, "not_editable", map[string]string{"LATE": "older"})
}

func TestDelete_WhatCannotBeDeleted(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Owner{PN: me}, old(iSaid(grace, "LATE", "x"), 61*time.Hour), withStatus(iSaid(grace, "PEND", "x"), bridge.DeliveryPending),
		withStatus(iSaid(grace, "FAIL", "x"), bridge.DeliveryFailed), iSaid(grace, "GONE", "x"),
		bridge.Deletion{Chat: grace, Target: "GONE", By: me, Timestamp: bridge.At(time.Now())})
	s.refused(http.MethodDelete, "", "not_deletable", map[string]string{
		"M1": "1:1 chat", "G1": "not an admin", "LATE": "older than 60 hours", "PEND": "still being sent", "FAIL": "never sent", "GONE": "deleted already",
	})
	s.know(old(iSaid(grace, "RIGHT", "x"), 59*time.Hour))
	s.Do(http.MethodDelete, "/api/chats/"+string(grace)+"/messages/RIGHT", "").Want(http.StatusOK)
}

// Somebody else's message of a group, once the account administers it.
func TestDelete_AsAdmin(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Owner{PN: me}, old(say(club, grace, "G2", "spam", 0), time.Hour), say(olden, alan, "O1", "spam", 0))
	path := "/api/chats/" + string(club) + "/messages/G2"
	s.Do(http.MethodDelete, path, "").Want(http.StatusBadRequest)
	s.know(bridge.GroupChange{JID: club, Promoted: []bridge.JID{me}})
	var answer map[string]any
	s.Do(http.MethodDelete, path, "").Want(http.StatusOK).Decode(&answer)
	if answer["msgId"] != "G2" || answer["chatJid"] != string(club) || answer["ok"] != true {
		t.Errorf("answer %v", answer)
	}
	if target := s.account.sent()[0].Content.(bridge.Revocation).Target; target.ID != "G2" || target.SenderJID != grace || target.Chat != club {
		t.Errorf("deletes %+v", target)
	}
	// Nobody can tell who administers a group of which nothing is known yet.
	got := s.Do(http.MethodDelete, "/api/chats/"+string(olden)+"/messages/O1", "").Want(http.StatusServiceUnavailable)
	if !strings.Contains(got.Error(), "members") {
		t.Error(got.Error())
	}
}

func TestChange_RefusesBadInput(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, c := range []struct{ method, path, body, says string }{
		{"PATCH", ownPath, `{}`, "text"},
		{"PATCH", ownPath, `{"text":7}`, "text"},
		{"PATCH", ownPath, `{"text":"` + strings.Repeat("x", 65537) + `"}`, "text"},
		{"PATCH", ownPath, `{"text":"x","text":"y"}`, "twice"},
		{"PATCH", ownPath, `{"text":"x","caption":"y"}`, "caption is not a field"},
		{"PATCH", ownPath, `{"text":"x","mentions":"` + string(grace) + `"}`, "mentions"},
		{"PATCH", ownPath, `{"text":"x","mentions":["` + string(club) + `"]}`, "mentions"},
		{"PATCH", ownPath, `{"text":"x","mentions":["grace"]}`, "mentions"},
		{"PATCH", ownPath, `{"text":"x","mentions":[` + strings.Repeat(`"",`, 1024) + `""]}`, "at most 1024"},
		{"PATCH", ownPath, ``, "empty"},
		{"PATCH", "/api/chats/15557654321/messages/OWN", `{"text":"x"}`, "did you mean"},
		{"PATCH", "/api/chats/status@broadcast/messages/OWN", `{"text":"x"}`, "path"},
		{"DELETE", "/api/chats/15557654321/messages/OWN", ``, "did you mean"},
		{"DELETE", ownPath, `{"for":"me"}`, "for is not a field"},
		{"DELETE", ownPath, `[]`, "object"},
	} {
		got := s.Do(c.method, c.path, c.body)
		if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s %s %.80s: %d %s, want %q", c.method, c.path, c.body, got.Status, got.Body, c.says)
		}
	}
	s.Do("DELETE", ownPath, strings.Repeat(" ", 1<<20+1)).Want(http.StatusRequestEntityTooLarge)
	if sent := s.account.sent(); len(sent) != 0 {
		t.Errorf("sent: %+v", sent)
	}
}

// Who is mentioned stays so where the word is still there; a list says it anew.
func TestEdit_Mentions(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	m := iSaid(club, "GM", "@15557654321 and @447700900123, look")
	m.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{grace, alan}}
	s.know(m)
	for body, want := range map[string][]bridge.JID{
		`{"text":"@15557654321, look"}`:                       {grace},
		`{"text":"@155576543210, look"}`:                      nil,
		`{"text":"look @447700900123"}`:                       {alan},
		`{"text":"@15557654321, look","mentions":[]}`:         nil,
		`{"text":"look","mentions":["` + string(alan) + `"]}`: {alan},
	} {
		s.Do(http.MethodPatch, "/api/chats/"+string(club)+"/messages/GM", body).Want(http.StatusOK)
		sent := s.account.sent()
		edit := sent[len(sent)-1].Content.(bridge.TextEdit)
		if diff := cmp.Diff(want, edit.Mentions); diff != "" || edit.Target.ID != "GM" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

// A change whose outcome is unknown leaves again under its id, with its time.
func TestIdempotency_UnconfirmedChangeGoesAgainUnderItsID(t *testing.T) {
	t.Parallel()
	for _, r := range []route{{method: "PATCH", path: ownPath, body: `{"text":"better"}`}, {method: "DELETE", path: ownPath}} {
		t.Run(r.method, func(t *testing.T) {
			s := stocked(t)
			claimed := bridge.At(noon)
			s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
				key := *out.Key
				key.MsgID, key.Chat, key.ChangedAt = "STANZA", out.To, claimed
				s.know(key)
				return bridge.Sent{}, bridge.Fail(bridge.CodeSendTimeout, "not confirmed")
			}
			status, answer, _ := s.callKeyed("k", r, r.body)
			if says, _ := answer["error"].(string); status != 504 || !strings.Contains(says, "repeat the call") {
				t.Fatalf("%d %v", status, answer)
			}
			var again bridge.SendKey
			s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
				again = *out.Key
				return s.account.accept(ctx, bridge.Outgoing{To: out.To, Content: out.Content})
			}
			status, answer, replayed := s.callKeyed("k", r, r.body)
			if status != 200 || replayed || answer["msgId"] != "OWN" || again.MsgID != "STANZA" || !again.ChangedAt.Equal(claimed.Time) {
				t.Errorf("%d %v, replayed %v, under %+v", status, answer, replayed, again)
			}
		})
	}
}

// The key is bound to the message, however the path writes it.
func TestIdempotency_AChangeIsOfItsMessage(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(iSaid(grace, "OTHER", "x"))
	r := route{method: "PATCH", path: ownPath}
	if status, _, _ := s.callKeyed("k", r, `{"text":"better"}`); status != 200 {
		t.Fatal(status)
	}
	r.path = strings.Replace(ownPath, "@", "%40", 1)
	if status, answer, replayed := s.callKeyed("k", r, `{"text":"better"}`); status != 200 || !replayed || answer["msgId"] != "OWN" {
		t.Errorf("%d %v, replayed %v", status, answer, replayed)
	}
	r.path = strings.Replace(ownPath, "OWN", "OTHER", 1)
	if status, answer, _ := s.callKeyed("k", r, `{"text":"better"}`); status != 422 {
		t.Errorf("another message: %d %v", status, answer)
	}
}

// Behind the time of the apps an edit is only repeated, until the network takes none.
func TestEdit_TimeIsLongerForARepeatedCall(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(o *api.Options) { o.Now = func() time.Time { return now } })
	s.know(iSaid(grace, "OWN", "x"))
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		key := *out.Key
		key.MsgID, key.Chat, key.ChangedAt = "STANZA", out.To, bridge.At(now)
		s.know(key)
		return bridge.Sent{}, bridge.Fail(bridge.CodeSendTimeout, "not confirmed")
	}
	r := route{method: "PATCH", path: ownPath}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 504}, {19 * time.Minute, 504}, {21 * time.Minute, 400}} {
		now = time.Now().Add(step.after)
		if status, answer, _ := s.callKeyed("k", r, `{"text":"better"}`); status != step.want {
			t.Errorf("after %v: %d %v, want %d", step.after, status, answer, step.want)
		}
	}
	now = time.Now().Add(16 * time.Minute)
	if status, _, _ := s.callKeyed("new", r, `{"text":"better"}`); status != 400 {
		t.Errorf("a new edit after 16 minutes: %d", status)
	}
}
