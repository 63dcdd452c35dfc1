package simnet_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

func TestFault_DroppedConnectionComesBack(t *testing.T) {
	_, own, anna, c := pair(t)
	c.device.Drop()
	await[*events.Disconnected](c, nil)
	await[*events.Connected](c, nil)
	mustSend(t, anna, own.PN(), "still there?")
	c.text("still there?")
}

func TestFault_RefusedSocketsAndAWholeOutage(t *testing.T) {
	n, own, anna, c := pair(t)
	// The test reconnects by itself: reconnecting while whatsmeow does is a race
	// inside whatsmeow.
	c.cli.EnableAutoReconnect = false
	n.RefuseSockets(http.StatusServiceUnavailable)
	c.device.Drop()
	await[*events.Disconnected](c, nil)
	if err := c.cli.Connect(); err == nil {
		t.Error("connected although sockets are refused")
	}
	n.AcceptSockets()
	c.connect()
	await[*events.Connected](c, nil)

	n.Down()
	await[*events.Disconnected](c, nil)
	for _, d := range []*simnet.Device{c.device, anna.Device()} {
		if err := d.WaitOffline(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.cli.Connect(); err == nil {
		t.Error("connected although the network is down")
	}
	n.Up()
	c.connect()
	await[*events.Connected](c, nil)
	if err := anna.Device().WaitOnline(within(t)); err != nil {
		t.Fatalf("the phones come back by themselves: %v", err)
	}
	mustSend(t, anna, own.PN(), "after the outage")
	c.text("after the outage")
}

func TestFault_FrozenConnectionIsSilent(t *testing.T) {
	_, own, anna, c := pair(t)
	c.device.Freeze()
	id := mustSend(t, anna, own.PN(), "into the ice")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.device.WaitAcknowledged(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("acknowledged over a frozen connection: %v", err)
	}
	if !c.device.Online() {
		t.Error("a frozen connection looks closed")
	}
	c.device.Thaw()
	c.text("into the ice")
}

func TestFault_DelayedFramesComeLate(t *testing.T) {
	_, own, anna, c := pair(t)
	c.device.Delay(150 * time.Millisecond)
	start := time.Now()
	mustSend(t, anna, own.PN(), "slowly")
	c.text("slowly")
	if took := time.Since(start); took < 150*time.Millisecond {
		t.Errorf("came after %v", took)
	}
}

func TestFault_DuplicateIsNotShownTwice(t *testing.T) {
	_, own, anna, c := pair(t)
	c.device.Duplicate(1)
	mustSend(t, anna, own.PN(), "once")
	mustSend(t, anna, own.PN(), "then this")
	c.text("then this")
	if err := c.device.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
	c.text("once")
	for _, event := range c.seen {
		if m, ok := event.(*events.Message); ok && m.Message.GetConversation() == "once" {
			t.Error("the duplicate was reported")
		}
	}
}

func TestFault_CorruptedCiphertextIsAskedForAgain(t *testing.T) {
	_, own, anna, c := pair(t)
	mustSend(t, anna, own.PN(), "a session")
	c.text("a session")
	c.device.CorruptMessages(1)
	id := mustSend(t, anna, own.PN(), "damaged")
	if bad := await[*events.UndecryptableMessage](c, nil); bad.Info.ID != id {
		t.Errorf("undecryptable %s, want %s", bad.Info.ID, id)
	}
	again := await(c, func(m *events.Message) bool { return m.Info.ID == id && m.RetryCount > 0 })
	if again.Message.GetConversation() != "damaged" {
		t.Errorf("came again as %v", again.Message)
	}
	if c.device.Counters().RetryReceipts == 0 {
		t.Error("no retry receipt was counted")
	}
	resent := await(c, func(m *events.Message) bool { return m.Info.ID == id && m.UnavailableRequestID != "" })
	if resent.Message.GetConversation() != "damaged" {
		t.Errorf("the own phone sent %v", resent.Message)
	}
}

func TestFault_CorruptedGroupMessageIsAskedForAgain(t *testing.T) {
	_, own, anna, c := pair(t)
	own.IgnoreRequests(true)
	g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own}})
	mustSend(t, anna, g.JID(), "a session")
	c.text("a session")
	c.device.CorruptMessages(1)
	id := mustSend(t, anna, g.JID(), "damaged")
	again := await(c, func(m *events.Message) bool { return m.Info.ID == id && m.Message.GetConversation() == "damaged" })
	if again.Info.Chat != g.JID() || again.Info.Sender != anna.LID() {
		t.Errorf("came again as %+v", again.Info)
	}
}

func TestFault_OwnPhonesDamagedMessageIsAskedForAgain(t *testing.T) {
	_, own, anna, c := pair(t)
	own.IgnoreRequests(true)
	mustSend(t, own, anna.PN(), "a session")
	c.text("a session")
	c.device.CorruptMessages(1)
	id := mustSend(t, own, anna.PN(), "damaged")
	again := await(c, func(m *events.Message) bool { return m.Info.ID == id })
	if !again.Info.IsFromMe || again.Info.Chat != anna.PN() || again.Message.GetConversation() != "damaged" {
		t.Errorf("came again as %+v %v", again.Info, again.Message)
	}
}

func TestFault_TheContactAsksForADamagedMessageAgain(t *testing.T) {
	_, _, anna, c := pair(t)
	c.send(anna.PN(), "a session")
	mustReceive(t, anna, "a session")
	anna.Device().CorruptMessages(1)
	id := c.send(anna.PN(), "damaged")
	r := mustReceive(t, anna, "damaged")
	if r.Info.ID != id || r.RetryCount == 0 {
		t.Errorf("came as %s, retry %d", r.Info.ID, r.RetryCount)
	}
}

func TestFault_CorruptedFrameComesOnTheNextConnection(t *testing.T) {
	_, own, anna, c := pair(t)
	c.device.CorruptFrames(1)
	id := mustSend(t, anna, own.PN(), "lost on the wire")
	mustSend(t, anna, own.PN(), "not lost")
	c.text("not lost")
	c.device.Drop()
	c.text("lost on the wire")
	if err := c.device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
}

func TestFault_LostAcknowledgementIsDeliveredAgain(t *testing.T) {
	_, own, anna, c := pair(t)
	c.device.IgnoreAcks(1)
	id := mustSend(t, anna, own.PN(), "thanks")
	c.text("thanks")
	if err := c.device.WaitCounters(within(t), func(c simnet.Counters) bool { return c.IgnoredAcks == 1 }); err != nil {
		t.Fatal(err)
	}
	c.device.Drop()
	if err := c.device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	got := c.device.AcknowledgedMessages()
	if len(got) != 1 || got[0].Deliveries != 2 {
		t.Errorf("acknowledged %+v", got)
	}
}

func TestFault_SendsAreRefusedLostOrLate(t *testing.T) {
	_, _, anna, c := pair(t)
	c.send(anna.PN(), "a session")
	text := &waE2E.Message{Conversation: proto.String("ambiguous")}
	for _, code := range []int{463, 479, 429} {
		c.device.FailSends(simnet.SendFault{Code: code})
		_, err := c.cli.SendMessage(within(t), anna.PN(), text)
		if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
			t.Errorf("refused with %d: %v", code, err)
		}
	}
	c.device.FailSends(simnet.SendFault{LoseAck: true})
	_, err := c.cli.SendMessage(within(t), anna.PN(), text, whatsmeow.SendRequestExtra{ID: "AMBIGUOUS", Timeout: 200 * time.Millisecond})
	if !errors.Is(err, whatsmeow.ErrMessageTimedOut) {
		t.Errorf("lost ack: %v", err)
	}
	if r, err := anna.ReceivedID(within(t), "AMBIGUOUS"); err != nil || r.Text() != "ambiguous" {
		t.Errorf("the contact got %v: %v", r, err)
	}
	c.device.FailSends(simnet.SendFault{AckDelay: 200 * time.Millisecond})
	start := time.Now()
	if _, err = c.cli.SendMessage(within(t), anna.PN(), text); err != nil || time.Since(start) < 200*time.Millisecond {
		t.Errorf("late ack after %v: %v", time.Since(start), err)
	}
	if got := c.device.Counters().Rejected; got != 3 {
		t.Errorf("%d rejected, want 3", got)
	}
}

func TestFault_StreamErrors(t *testing.T) {
	_, _, _, c := pair(t)
	logins := c.device.Counters().Logins
	for i, code := range []string{"515", "503"} {
		c.device.StreamError(code)
		if err := c.device.WaitLogins(within(t), logins+i+1); err != nil {
			t.Fatalf("after %s: %v", code, err)
		}
		await[*events.Connected](c, nil)
	}
	c.ended = true
	c.device.Replace()
	await[*events.StreamReplaced](c, nil)
	if err := c.device.WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
}

func TestFault_SecondClientOfASessionReplacesTheFirst(t *testing.T) {
	n, _, _, c := pair(t)
	second := companionOn(t, n, c.cli.Store)
	c.ended = true
	second.connect()
	await[*events.Connected](second, nil)
	await[*events.StreamReplaced](c, nil)
}

func TestFault_LoginFailures(t *testing.T) {
	n, own, _, c := pair(t)
	relogin := func(f simnet.ConnectFailure) {
		t.Helper()
		c.cli.Disconnect()
		c.device.FailLogins(f, 1)
		c.connect()
	}
	relogin(simnet.ConnectFailure{Reason: 402, Code: 101, Expire: time.Hour})
	if ban := await[*events.TemporaryBan](c, nil); ban.Code != events.TempBanSentToTooManyPeople || ban.Expire != time.Hour {
		t.Errorf("ban %+v", ban)
	}
	relogin(simnet.ConnectFailure{Reason: 405})
	await[*events.ClientOutdated](c, nil)
	relogin(simnet.ConnectFailure{Reason: 503})
	await[*events.Connected](c, nil)
	for _, reason := range []int{403, 401} {
		other := newCompanion(t, n)
		other.pair(own)
		other.calm(own)
		other.ended = true
		other.cli.Disconnect()
		other.device.FailLogins(simnet.ConnectFailure{Reason: reason}, -1)
		other.connect()
		if out := await[*events.LoggedOut](other, nil); int(out.Reason) != reason {
			t.Errorf("logged out for %d, want %d", out.Reason, reason)
		}
	}
}

func TestFault_QueriesFail(t *testing.T) {
	_, own, anna, c := pair(t)
	g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own}})
	c.device.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "query", Code: 429, Text: "rate-overlimit", Times: 1})
	if _, err := c.cli.GetGroupInfo(within(t), g.JID()); !errors.Is(err, whatsmeow.ErrIQRateOverLimit) {
		t.Errorf("rate limited: %v", err)
	}
	if _, err := c.cli.GetGroupInfo(within(t), g.JID()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	c.device.FailQueries(simnet.IQFault{Namespace: "w:g2", Silent: true})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.cli.GetGroupInfo(ctx, g.JID()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("unanswered: %v", err)
	}
	c.device.ClearFaults()
	if _, err := c.cli.GetGroupInfo(within(t), g.JID()); err != nil {
		t.Errorf("cleared: %v", err)
	}
}

func TestTwoWay_NothingIsLostOnThePhonesSide(t *testing.T) {
	const each = 150
	n := newNetwork(t)
	own, anna := newPhone(t, n, "4915100000001", "Owner"), newPhone(t, n, "4915100000002", "Anna")
	c := newSQLCompanion(t, n)
	c.pair(own)
	mustSend(t, anna, own.PN(), "hello")
	c.text("hello")
	c.send(anna.PN(), "hello back")
	mustReceive(t, anna, "hello back")
	sent := make(chan error, 1)
	go func() {
		_, err := simnet.Burst(t.Context(), []*simnet.Phone{anna}, own.PN(), each, func(int) string { return "there" })
		sent <- err
	}()
	var ids []types.MessageID
	for range each {
		ids = append(ids, c.send(anna.PN(), "back"))
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if err := anna.Device().WaitAcknowledged(within(t), ids...); err != nil {
		t.Fatal(err)
	}
	if err := anna.Device().WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if _, err := anna.ReceivedID(within(t), id); err != nil {
			t.Fatalf("message %s was lost", id)
		}
	}
	got := 0
	for range each {
		await(c, func(m *events.Message) bool { return m.Message.GetConversation() == "there" })
		got++
	}
	if got != each || slices.Contains(ids, "") {
		t.Errorf("%d of %d came", got, each)
	}
}
