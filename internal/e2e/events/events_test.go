package events

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestEvents_ReachEveryReader follows people's actions from the network to the
// stream, the pages and a webhook: each has the same events, once, in order.
func TestEvents_ReachEveryReader(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100501", Name: "Sam"})
	receiver := NewHookReceiver(t)
	p := StartBridge(t, network, receiver.Settings("message.created", "message.updated", "message.status")...)
	Pair(t, p, owner)
	live := p.Stream("?types=message.created,message.updated,message.status")

	first := Must(sam.SendText(Within(t), owner.PN(), "Good morning"))(t)
	heard := Must(owner.ReceivedID(Within(t), first))(t)
	live.Until("message.created " + first)
	Must(owner.React(Within(t), heard, "👍"))(t)
	live.Until("message.updated " + first)
	Must(sam.Edit(Within(t), owner.PN(), first, "Good evening"))(t)
	live.Until("message.updated " + first)
	var sent struct{ MsgID string }
	p.Post("/api/messages/send", Object{"jid": sam.PN().String(), "text": "Good night"}).Want(http.StatusOK).Decode(&sent)
	live.Until("message.created " + sent.MsgID)
	answer := Must(sam.ReceivedID(Within(t), sent.MsgID))(t)
	live.UntilStatus(sent.MsgID, bridge.DeliveryDelivered)
	if err := sam.MarkRead(Within(t), answer); err != nil {
		t.Fatal(err)
	}
	live.UntilStatus(sent.MsgID, bridge.DeliveryRead)
	poll := Must(sam.SendPoll(Within(t), owner.PN(), "When?", []string{"Now", "Later"}, 1))(t)
	live.Until("message.created " + poll)
	Must(owner.Vote(Within(t), Must(owner.ReceivedID(Within(t), poll))(t), []string{"Later"}))(t)
	live.Until("message.updated " + poll)
	Must(sam.Revoke(Within(t), owner.PN(), first))(t)
	live.Until("message.updated " + first)

	told := p.AllEvents("&types=message.created,message.updated,message.status")
	var want, posted []string
	for _, e := range told {
		want = append(want, About(e))
	}
	for _, h := range receiver.WaitFor(len(told)) {
		posted = append(posted, About(h.Data))
	}
	if diff := cmp.Diff(want, posted); diff != "" {
		t.Errorf("the log (-) and what was posted (+)\n%s", diff)
	}
	last, final := receiver.Accepted()[len(posted)-1].Data, told[len(told)-1]
	if diff := cmp.Diff(final, last); diff != "" {
		t.Errorf("the last event in the log (-) and as posted (+)\n%s", diff)
	}

	// A stop ends the streams and does not wait for them.
	p.Stop()
	if !live.Ended() {
		t.Errorf("the stream broke: %v", live.Scan.Err())
	}
}

// TestEvents_WebhookOutlivesKills kills the program while a receiver has an event
// and has not answered: after the start the event is posted again under the same
// id, followed by those that came meanwhile.
func TestEvents_WebhookOutlivesKills(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100502", Name: "Sam"})
	receiver := NewHookReceiver(t)
	p := StartBridge(t, network, receiver.Settings("message.created")...)
	Pair(t, p, owner)
	var ids []string
	for round := range 5 {
		taken := make(chan Hook, 10)
		killed := make(chan struct{})
		done := receiver.Accepted()
		receiver.Answers(func(h Hook) int {
			if slices.ContainsFunc(done, func(d Hook) bool { return d.ID == h.ID }) {
				return http.StatusOK // again: the answer was not stored before the kill
			}
			taken <- h
			<-killed
			return http.StatusBadGateway // the bridge is gone and will not read this
		})
		id := Must(sam.SendText(Within(t), owner.PN(), fmt.Sprint("round ", round)))(t)
		before := <-taken
		p.Kill()
		close(killed)
		receiver.Answers(func(Hook) int { return http.StatusOK })
		ids = append(ids, id, Must(sam.SendText(Within(t), owner.PN(), fmt.Sprint("meanwhile ", round)))(t))
		p.Start()
		accepted := receiver.WaitFor(len(ids))
		if again := accepted[len(ids)-2]; again.ID != before.ID || again.Data.Message.ID != id {
			t.Errorf("round %d: posted as %s and then as %s", round, before.ID, again.ID)
		}
	}
	var got []string
	for _, h := range receiver.Accepted() {
		got = append(got, h.Data.Message.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("sent (-) and posted (+)\n%s", diff)
	}
}

// TestEvents_LogIsBounded starts the program with a small log: a reader that has
// fallen behind it is notified.
func TestEvents_LogIsBounded(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100503", Name: "Sam"})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	var ids []string
	for n := range 6 {
		ids = append(ids, Must(sam.SendText(Within(t), owner.PN(), fmt.Sprint("message ", n)))(t))
	}
	Eventually(t, func() error {
		if got := len(p.AllEvents("&types=message.created")); got < len(ids) {
			return errors.New("still waiting")
		}
		return nil
	})
	p.Stop()
	p.Set("EVENTS_MAX_COUNT=3")
	p.Start()
	Eventually(t, func() error {
		var page struct{ Reset bool }
		p.Get("/api/events?after=1").Want(http.StatusOK).Decode(&page)
		if !page.Reset {
			return errors.New("still waiting")
		}
		return nil
	})
}
