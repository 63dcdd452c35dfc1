package wa_test

import (
	"context"
	"slices"
	"testing"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// waitCall waits until a call reaches a state.
func (a *account) waitCall(id string, state bridge.CallState) (call bridge.Call) {
	a.t.Helper()
	eventually(a.t, "the call "+id+" to be "+string(state), func() bool {
		var err error
		call, err = a.store.Call(testContext(a.t), id)
		return err == nil && call.State == state
	})
	return call
}

// ring makes a person call, and waits until it rings.
func (a *account) ring(by *simnet.Phone, opts simnet.CallOptions) (*simnet.Call, bridge.Call) {
	a.t.Helper()
	c, err := by.Call(testContext(a.t), a.phone, opts)
	if err != nil {
		a.t.Fatal(err)
	}
	return c, a.waitCall(c.ID(), bridge.CallRinging)
}

func TestCalls_Outcomes(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	act := func(do func(context.Context) error) {
		t.Helper()
		if err := do(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	for name, end := range map[string]struct {
		do   func(c *simnet.Call)
		want bridge.CallState
	}{
		"the caller hangs up":   {func(c *simnet.Call) { act(c.HangUp) }, bridge.CallMissed},
		"nobody answers":        {func(c *simnet.Call) { act(c.TimeOut) }, bridge.CallMissed},
		"rejected on the phone": {func(c *simnet.Call) { act(func(ctx context.Context) error { return c.Reject(ctx, a.phone) }) }, bridge.CallRejected},
		"taken on the phone":    {func(c *simnet.Call) { act(func(ctx context.Context) error { return c.Accept(ctx, a.phone) }) }, bridge.CallAnsweredElsewhere},
		"taken, and then hung up on": {func(c *simnet.Call) {
			act(func(ctx context.Context) error { return c.Accept(ctx, a.phone) })
			act(c.HangUp)
		}, bridge.CallEnded},
	} {
		c, call := a.ring(friend, simnet.CallOptions{Video: name == "nobody answers"})
		if call.ChatJID != jidOf(friend) || call.FromJID != jidOf(friend) || call.FromLID != bridge.JID(friend.LID().String()) || call.IsGroup ||
			call.IsVideo != (name == "nobody answers") || call.EndedAt != nil || time.Since(call.StartedAt.Time).Abs() > time.Minute {
			t.Errorf("%s: %+v", name, call)
		}
		end.do(c)
		if got := a.waitCall(c.ID(), end.want); (got.EndedAt == nil) != (end.want == bridge.CallAnsweredElsewhere) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The notice of a group call does not name the group.
func TestCalls_OfAGroup(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Crew", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := group.Call(ctx, friend, simnet.CallOptions{Video: true})
	if err != nil {
		t.Fatal(err)
	}
	if call := a.waitCall(c.ID(), bridge.CallRinging); call.ChatJID != "" || call.FromJID != jidOf(friend) || !call.IsGroup || !call.IsVideo {
		t.Errorf("%+v", call)
	}
	if err := c.HangUp(ctx); err != nil {
		t.Fatal(err)
	}
	a.waitCall(c.ID(), bridge.CallMissed)
}

// A call is rejected by the id of the wire, whatever its characters are, and stops
// ringing everywhere.
func TestCalls_Reject(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	c, call := a.ring(friend, simnet.CallOptions{})
	if err := a.manager.RejectCall(ctx, call); err != nil {
		t.Fatal(err)
	}
	if rejected, err := c.WaitRejected(ctx); err != nil || rejected.From.User != a.phone.LID().User {
		t.Errorf("the caller got %+v, %v", rejected, err)
	}
	if got := a.waitCall(c.ID(), bridge.CallRejected); got.EndedAt == nil {
		t.Errorf("%+v", got)
	}
	odd, err := friend.Call(ctx, a.phone, simnet.CallOptions{ID: "../a b/%2e\n\"☎"})
	if err != nil {
		t.Fatal(err)
	}
	var page bridge.Page[bridge.Call]
	eventually(t, "the second call", func() bool {
		page, err = a.store.Calls(ctx, bridge.CallQuery{})
		return err != nil || len(page.Items) == 2
	})
	if err := a.manager.RejectCall(ctx, page.Items[0]); err != nil || page.Items[0].WireID != odd.ID() {
		t.Errorf("%+v, %v", page.Items, err)
	}
	if _, err := odd.WaitRejected(ctx); err != nil {
		t.Error(err)
	}
	if err := a.manager.RejectCall(ctx, call); bridge.CodeOf(err) != bridge.CodeSendRefused {
		t.Errorf("of a call that is over: %v", err)
	}
	_, call = a.ring(friend, simnet.CallOptions{})
	a.manager.SetWaits(50*time.Millisecond, time.Second, 0)
	a.device().IgnoreCalls(true)
	if err := a.manager.RejectCall(ctx, call); bridge.CodeOf(err) != bridge.CodeSendTimeout {
		t.Errorf("without an answer: %v", err)
	}
	a.waitCall(call.ID, bridge.CallRinging) // as far as the bridge knows
}

// A call is stored before it is acknowledged: an unacknowledged one comes again.
func TestCalls_AreAcknowledgedOnceStored(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	acknowledged := func() bool {
		return slices.ContainsFunc(a.device().Acknowledged(), func(done simnet.Acknowledged) bool { return done.Class == "call" })
	}
	a.fault.Set(bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full"))
	logins := a.device().Counters().Logins
	c, err := friend.Call(ctx, a.phone, simnet.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.device().WaitLogins(ctx, logins+1); err != nil {
		t.Fatal(err)
	}
	if acknowledged() {
		t.Fatal("a call was acknowledged that is stored nowhere")
	}
	a.fault.Set(nil)
	a.waitCall(c.ID(), bridge.CallRinging)
	eventually(t, "its acknowledgement", acknowledged)
}

// A call that rang when the process ended is missed at its next start.
func TestCalls_ThatRangAtTheEndAreMissed(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	friend := newPhone(t, network, "15550100301", "Sam")
	c, _ := a.ring(friend, simnet.CallOptions{})
	last, err := a.store.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.stop()
	b := startAccount(t, network, dir)
	b.waitCall(c.ID(), bridge.CallMissed)
	b.waitState(bridge.StateOpen)
	b.phone = a.phone
	if err := c.Accept(ctx, a.phone); err != nil { // it was ringing on the phone nevertheless
		t.Fatal(err)
	}
	b.waitCall(c.ID(), bridge.CallAnsweredElsewhere)
	other, _ := b.ring(friend, simnet.CallOptions{})
	ofCalls := bridge.EventFilter{Types: []bridge.EventType{bridge.EventCallCreated, bridge.EventCallUpdated}}
	page, err := b.store.Events(ctx, store.EventQuery{After: last, EventFilter: ofCalls})
	if err != nil || len(page.Events) != 3 || page.Events[2].Call.ID != other.ID() || page.Events[2].Type != bridge.EventCallCreated {
		t.Errorf("events %+v, %v", page.Events, err)
	}
}

// TestCalls_EndAfterARestart: the end of a call that was marked as missed at a start is stored
// and logged when the network reports it.
func TestCalls_EndAfterARestart(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	friend := newPhone(t, network, "15550100301", "Sam")
	c, _ := a.ring(friend, simnet.CallOptions{})
	a.stop()
	b := startAccount(t, network, dir)
	if call := b.waitCall(c.ID(), bridge.CallMissed); call.EndedAt != nil {
		t.Errorf("before the network has reported an end: %+v", call)
	}
	b.waitState(bridge.StateOpen)
	last, err := b.store.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.HangUp(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the call", func() bool { return b.waitCall(c.ID(), bridge.CallMissed).EndedAt != nil })
	page, err := b.store.Events(ctx, store.EventQuery{After: last, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventCallUpdated}}})
	if err != nil || len(page.Events) != 1 || page.Events[0].Call.EndedAt == nil {
		t.Errorf("events %+v, %v", page.Events, err)
	}
}

// An offer delivered after an outage is a missed call, unless the phone turns out
// to have answered it; one that is a little late rings.
func TestCalls_ThatRangDuringAnOutageAreMissed(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	meta := func(id string, ago time.Duration) types.BasicCallMeta {
		return types.BasicCallMeta{From: friend.LID(), CallCreator: friend.LID(), CallID: id, Timestamp: time.Now().Add(-ago)}
	}
	deliver := func(evt any) {
		t.Helper()
		if stored, err := a.manager.Deliver(evt); err != nil || !stored {
			t.Fatalf("%T: %t, %v", evt, stored, err)
		}
	}
	is := func(id string, want bridge.CallState) {
		t.Helper()
		if call, err := a.store.Call(testContext(t), id); err != nil || call.State != want {
			t.Errorf("%s: %+v, %v, want %s", id, call, err, want)
		}
	}
	deliver(&events.CallOffer{BasicCallMeta: meta("OLD", 10*time.Minute), Data: &waBinary.Node{Tag: "offer"}})
	deliver(&events.CallOfferNotice{BasicCallMeta: meta("OLDGROUP", 10*time.Minute), Type: "group"})
	deliver(&events.CallOffer{BasicCallMeta: meta("LATE", time.Minute), Data: &waBinary.Node{Tag: "offer"}})
	is("OLD", bridge.CallMissed)
	is("OLDGROUP", bridge.CallMissed)
	is("LATE", bridge.CallRinging)
	taken := meta("OLD", 9*time.Minute)
	deliver(&events.CallTerminate{BasicCallMeta: taken, Reason: "accepted_elsewhere"})
	is("OLD", bridge.CallAnsweredElsewhere)
}
