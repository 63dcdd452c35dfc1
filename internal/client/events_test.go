package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const timeout = 30 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// follower reads a stream of events in the background.
type follower struct {
	t      *testing.T
	events chan bridge.Event
	errs   chan error
}

func (b *bridgeUnderTest) follow(q client.EventQuery) *follower {
	f := &follower{b.t, make(chan bridge.Event), make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	b.t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		for event, err := range b.Events(ctx, q) {
			if err != nil {
				f.errs <- err
				return
			}
			select {
			case f.events <- event:
			case <-ctx.Done():
				return
			}
		}
	}()
	return f
}

// next returns the next event.
func (f *follower) next() bridge.Event {
	f.t.Helper()
	select {
	case event := <-f.events:
		return event
	case err := <-f.errs:
		f.t.Fatalf("the stream ended: %v", err)
	case <-time.After(timeout):
		f.t.Fatal("no event came")
	}
	return bridge.Event{}
}

// message returns the id of the next new message.
func (f *follower) message() string {
	f.t.Helper()
	event := f.next()
	if event.Type != bridge.EventMessageCreated || event.Message == nil || event.ID == 0 {
		f.t.Fatalf("event %+v", event)
	}
	return event.Message.ID
}

var created = []bridge.EventType{bridge.EventMessageCreated}

func TestEvents_ReplayThenLive(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(grace, "M1", "one", 1))
		f := b.follow(client.EventQuery{After: "0", Types: created, Chats: []bridge.JID{grace}})
		if id := f.message(); id != "M1" {
			t.Errorf("first %s", id)
		}
		b.know(said(club, "G1", "elsewhere", 2), said(grace, "M2", "two", 3))
		if id := f.message(); id != "M2" {
			t.Errorf("then %s", id)
		}
	})
}

func TestEvents_ResumeBehindTheLastOne(t *testing.T) {
	t.Parallel()
	b := overTheWire(t)
	b.know(said(grace, "M1", "before", 1))
	f := b.follow(client.EventQuery{After: "0", Types: created})
	if id := f.message(); id != "M1" {
		t.Errorf("first %s", id)
	}
	b.listener.CloseClientConnections()
	b.know(said(grace, "M2", "while it was away", 2), said(grace, "M3", "too", 3))
	if second, third := f.message(), f.message(); second != "M2" || third != "M3" {
		t.Errorf("after the connection was lost: %s, %s", second, third)
	}
}

func TestEvents_WhatIsGoneIsAReset(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(grace, "M1", "one", 1), said(grace, "M2", "two", 2), said(grace, "M3", "three", 3))
		if _, err := b.store.PruneEvents(t.Context(), time.Time{}, 1); err != nil {
			t.Fatal(err)
		}
		f := b.follow(client.EventQuery{After: "1"})
		if event := f.next(); event.Type != bridge.EventReset {
			t.Errorf("first %+v", event)
		}
		page, err := b.EventPage(t.Context(), client.EventQuery{After: "1"}, 10, 0)
		if err != nil || !page.Reset || len(page.Events) != 1 {
			t.Errorf("as a page: %+v, %v", page, err)
		}
	})
}

func TestEvents_RefusalsEndThem(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		for _, err := range b.Events(within(t), client.EventQuery{After: "yesterday"}) {
			if bridge.CodeOf(err) != bridge.CodeInvalid {
				t.Errorf("a wrong cursor: %v", err)
			}
		}
		for _, err := range b.WithToken("not-the-token-of-anybody").Events(within(t), client.EventQuery{}) {
			if bridge.CodeOf(err) != bridge.CodeUnauthorized {
				t.Errorf("a wrong token: %v", err)
			}
		}
	})
}

func TestEvents_NonsenseEndsThem(t *testing.T) {
	t.Parallel()
	times := 0
	c := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		times++
		_, _ = w.Write([]byte("retry: 1\nid: 4\n\n: heartbeat\n\nid: 5\nevent: x\ndata: {\n\n"))
	}), token)
	var last error
	for _, err := range c.Events(within(t), client.EventQuery{}) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "cannot be read") || times != 1 {
		t.Errorf("error %v, after %d connections", last, times)
	}
}

// A stream that is cut off within an event reads that event again.
func TestEvents_CutOffWithinAnEvent(t *testing.T) {
	t.Parallel()
	var asked []string
	c := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Last-Event-ID"))
		if len(asked) == 1 {
			_, _ = w.Write([]byte("retry: 1\nid: 4\n\nid: 5\nevent: message.created\ndata: {\"id\": 5}\n\nid: 6\nevent: message.created\ndata: {\"id\": 6}"))
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte("id: 6\ndata: {\"id\": 6}\n\n"))
		<-r.Context().Done()
	}), token)
	var ids []int64
	for event, err := range c.Events(within(t), client.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, event.ID); len(ids) == 2 {
			break
		}
	}
	if len(ids) != 2 || ids[0] != 5 || ids[1] != 6 || len(asked) != 2 || asked[1] != "5" {
		t.Errorf("read %v, asked after %q", ids, asked)
	}
}

func TestWaitState(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		go b.account.become(bridge.StateOpen) // no event tells of it
		status, err := b.WaitState(within(t), bridge.StateOpen)
		if err != nil || status.Status != bridge.StateOpen {
			t.Errorf("%+v, %v", status, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := b.WaitState(ctx, bridge.StateClosed); err == nil {
			t.Error("a state that never comes was waited for")
		}
		full := errors.New("disk full")
		if _, err := b.WaitStatus(within(t), func(bridge.Status) (bool, error) { return false, full }); !errors.Is(err, full) {
			t.Errorf("error %v, want %v", err, full)
		}
	})
}
