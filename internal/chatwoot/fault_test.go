package chatwoot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/chatwoot/chatwoottest"
)

// faults are failures after which a call is repeated. Some take effect nevertheless.
var faults = map[string]chatwoottest.Fault{
	"too many":            {Status: 429, Header: http.Header{"Retry-After": {"5"}}, Body: "Retry later\n"},
	"too many, no time":   {Status: 429, Body: "Retry later\n"},
	"failed":              {Status: 500, Body: "<html>"},
	"failed after it":     {Status: 500, Stores: true},
	"a proxy's time-out":  {Status: 504, Stores: true},
	"closed":              {},
	"closed after it":     {Stores: true},
	"refused after it":    {Status: 422, Stores: true, Body: `{"error":"Redis is down"}`},
	"flooded":             {Status: 422, Body: `{"error":"Validation failed: Too many messages"}`},
	"flooded, other form": {Status: 422, Body: `{"message":"Too many messages","attributes":["base"]}`},
}

// Whatever fails for a while, at whichever call, each message is sent once, in order.
func TestFaults_NoMessageIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	paired := newScene(t, talk()...)
	for name, fault := range faults {
		for _, request := range []string{
			"GET /inboxes/1", "GET /automation_rules", "POST /contacts/filter", "POST /contacts", "GET /conversations", "POST /conversations", "GET /messages", "POST /messages",
		} {
			if fault.Status == 422 && (strings.HasPrefix(request, "GET") || request == "POST /contacts/filter") {
				continue // nothing that reads is refused for a while
			}
			s := paired.with(t)
			fault.Request, fault.Skip = request, 0
			if request == "POST /messages" {
				fault.Skip = 1
			}
			s.Fails(fault)
			if result := s.succeeds(s.backfill(whatsAppInbox), 3); result.Refused != 0 {
				t.Errorf("%s at %s: %+v", name, request, result)
			}
			if s.expect(1, graceNotes...); t.Failed() || len(s.Contacts()) != 1 || len(s.Conversations()) != 1 {
				t.Fatalf("%s at %s: %+v %+v", name, request, s.Contacts(), s.Conversations())
			}
		}
	}
}

// A server that goes on failing ends the run, and the next one continues.
func TestFaults_EndTheRun(t *testing.T) {
	t.Parallel()
	s := newScene(t, talk()...)
	s.FailsOn("POST /messages", 1, 503, attempts)
	result, err := s.run(t.Context(), s.backfill(whatsAppInbox))
	if !isStatus(err, 503) || result.Messages != 1 {
		t.Fatalf("sent %+v: %v", result, err)
	}
	s.succeeds(s.backfill(whatsAppInbox), 2)
	s.expect(1, graceNotes...)
}

// A run that is killed at any call, before or after the call takes effect, is continued by the next one without
// doubles and gaps, with and without its file.
func TestKill_AnywhereAndAgain(t *testing.T) {
	t.Parallel()
	paired := newScene(t, append(talk(), said(ana, "B1", "Ana", "oi", 0), said(ana, "B2", "Ana", "tudo bem?", 1))...)
	for takesEffect, states := range map[bool][]bool{false: {false}, true: {false, true}} {
		for _, withState := range states {
			for at := 0; ; at++ {
				s := paired.with(t)
				b := s.backfill(whatsAppInbox)
				if withState {
					b.State = filepath.Join(t.TempDir(), "progress.json")
				}
				ctx, kill := context.WithCancel(t.Context())
				s.Fails(chatwoottest.Fault{Request: "GET ", Skip: at, Do: kill, Stores: takesEffect}, chatwoottest.Fault{Request: "POST ", Skip: at, Do: kill, Stores: takesEffect})
				_, err := s.run(ctx, b)
				if kill(); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				s.Forget()
				if _, again := s.run(t.Context(), b); again != nil || len(s.Messages()) != 5 || len(s.Conversations()) != 2 || len(s.Contacts()) != 2 {
					t.Fatalf("killed at %d: %v, %+v", at, again, s.Messages())
				}
				if result, again := s.run(t.Context(), b); again != nil || result.Messages != 0 || result.Present != 5 {
					t.Fatalf("killed at %d, a third run: %+v %v", at, result, again)
				}
				if err == nil { // it had ended before
					break
				}
			}
		}
	}
}

// The file saves the calls for chats that are done, and names its inbox.
func TestState_ContinuesSooner(t *testing.T) {
	t.Parallel()
	s := newScene(t, append(talk(), said(ana, "B1", "Ana", "oi", 0), said(lena, "L1", "Lena", "hallo", 1))...)
	b := s.backfill(whatsAppInbox)
	b.State = filepath.Join(t.TempDir(), "progress.json")
	s.FailsOn("POST /messages", 4, 503, attempts)
	if _, err := s.run(t.Context(), b); !isStatus(err, 503) {
		t.Fatal(err)
	}
	before := s.Requests("GET", "/messages")
	if result := s.succeeds(b, 1); result.Chats != 1 || s.Requests("GET", "/messages") != before+1 {
		t.Errorf("continued with %+v and %d lists", result, s.Requests("GET", "/messages")-before)
	}
	if result := s.succeeds(b, 0); result.Chats != 3 || result.Present != 5 {
		t.Errorf("the next run compares %+v", result)
	}
	b.Inbox = apiInbox
	if _, err := s.run(t.Context(), b); err == nil || !strings.Contains(err.Error(), "belongs to another inbox") {
		t.Error(err)
	}
}

// A message that arrives during a run moves its chat to the front of the list. No chat is missed.
func TestBackfill_MissesNoChatThatMoves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const chats = pageSize + 2
	var facts []bridge.Fact
	for i := range chats {
		facts = append(facts, said(bridge.PhoneJID(fmt.Sprint(15550200000+i)), "A", "Ada", "hello", -i))
	}
	s.save(facts...)
	last := bridge.PhoneJID(fmt.Sprint(15550200000 + chats - 1))
	s.Fails(chatwoottest.Fault{Request: "POST /messages", Stores: true, Do: func() { s.save(said(last, "B", "Ada", "news", 5)) }})
	if _, err := s.run(t.Context(), s.backfill(whatsAppInbox)); err != nil {
		t.Fatal(err)
	}
	if len(s.Contacts()) != chats || len(s.Messages()) < chats {
		t.Errorf("%d contacts and %d messages of %d chats", len(s.Contacts()), len(s.Messages()), chats)
	}
}
