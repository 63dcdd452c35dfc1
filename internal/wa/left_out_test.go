package wa_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// waitSentAgain waits until that many messages were sent once more.
func (a *account) waitSentAgain(want uint64) {
	a.t.Helper()
	eventually(a.t, "messages that go out once more", func() bool { return a.manager.Traffic().SentAgain == want })
}

// linkUnnoticed links a companion to a person's account without a notification to
// the bridge.
func (a *account) linkUnnoticed(to *simnet.Phone) *simnet.Bare {
	a.t.Helper()
	ctx, device := testContext(a.t), a.phone.LinkedDevices()[0]
	device.MissDeviceChanges(true)
	defer device.MissDeviceChanges(false)
	linked, err := to.LinkBare(ctx, filepath.Join(a.t.TempDir(), "bare.db"))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = linked.Close() })
	if err := device.WaitQuiet(ctx); err != nil {
		a.t.Fatal(err)
	}
	return linked
}

// deliveries returns how often a device got a message that it could decrypt.
func deliveries(d *simnet.Bare, id string) (n int) {
	for _, a := range d.AcknowledgedMessages() {
		if a.ID == id && a.By != "retry" {
			n++
		}
	}
	return n
}

// TestLeftOut_DevicesGetTheMessage: devices unknown to the bridge, of a contact, of
// the account or of a member of a group. The message is sent once more under its
// id, and the next one goes to all devices at once.
func TestLeftOut_DevicesGetTheMessage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ group, byNumber, own bool }{
		"a contact": {}, "the account's own": {own: true}, "a group by LID": {group: true}, "a group by number": {group: true, byNumber: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			network := newNetwork(t)
			a := newAccount(t, network)
			device, friend := a.device(), newPhone(t, network, "15550100301", "Sam")
			to, links := jidOf(friend), friend
			if test.own {
				links = a.phone
			}
			if test.group {
				group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: name, ByNumber: test.byNumber, Members: []*simnet.Phone{a.phone}})
				if err != nil {
					t.Fatal(err)
				}
				to = bridge.JID(group.JID().String())
			}
			if _, err := a.send(to, "before"); err != nil {
				t.Fatal(err)
			}
			linked := a.linkUnnoticed(links)
			before := device.Counters().Sent
			sent, err := a.send(to, "after")
			if err != nil {
				t.Fatal(err)
			}
			a.waitSentAgain(1)
			eventually(t, "the message on the device", func() bool { return deliveries(linked, sent.ID) > 0 })
			if _, err := a.send(to, "later"); err != nil {
				t.Fatal(err)
			}
			if got := a.manager.Traffic().SentAgain; got != 1 {
				t.Errorf("the next message went out %d times more", got-1)
			}
			if rows := len(a.messages(to)); rows != 3 {
				t.Errorf("%d messages are stored, want 3", rows)
			}
			if test.group {
				return // such a device sends a retry receipt, too
			}
			if got := device.Counters().Sent - before; got != 3 {
				t.Errorf("%d messages left, want the first twice and the next once", got)
			}
			if got := deliveries(linked, sent.ID); got != 1 {
				t.Errorf("the message came %d times, want once", got)
			}
		})
	}
}

// TestLeftOut_NotWithoutAReason: nothing is sent again if the query brings no new
// devices, and nothing a third time, whatever the second answer says.
func TestLeftOut_NotWithoutAReason(t *testing.T) {
	t.Parallel()
	network, log := newNetwork(t), new(lockedBuffer)
	a := startAccountLogging(t, network, t.TempDir(), zerolog.New(log), plainly)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := a.send(jidOf(friend), "before"); err != nil {
		t.Fatal(err)
	}
	other := simnet.SendFault{Phash: "2:AAAAAAAA"}
	before := a.device().Counters().Sent
	a.device().FailSends(other)
	if _, err := a.send(jidOf(friend), "nobody is left out"); err != nil {
		t.Fatal(err)
	}
	a.device().FailSends(other)
	if _, err := a.send(jidOf(friend), "the same again"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.send(jidOf(friend), "to all as before"); err != nil { // whatsmeow queries the devices before it, once
		t.Fatal(err)
	}
	a.linkUnnoticed(friend)
	another := simnet.SendFault{Phash: "2:BBBBBBBB"}
	a.device().FailSends(another, another)
	if _, err := a.send(jidOf(friend), "somebody is left out"); err != nil {
		t.Fatal(err)
	}
	a.waitSentAgain(1)
	if _, err := a.send(jidOf(friend), "to all"); err != nil { // after the second answer the list was queried again
		t.Fatal(err)
	}
	a.linkUnnoticed(friend)
	if _, err := a.send(jidOf(friend), "and again"); err != nil {
		t.Fatal(err)
	}
	a.waitSentAgain(2) // in order: the earlier message has had its turn
	if got := a.device().Counters().Sent - before; got != 8 {
		t.Errorf("%d messages left, want 1, 1, 1, 2, 1 and 2", got)
	}
	if got := strings.Count(log.take(), "no devices were left out"); got != 1 {
		t.Errorf("the devices were asked for in vain %d times, want once for the same answer", got)
	}
}

// TestLeftOut_ByALateAnswer, which whatsmeow ignores.
func TestLeftOut_ByALateAnswer(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	a.manager.SetWaits(time.Minute, time.Minute, 0)
	friend := newPhone(t, network, "15550100301", "Sam")
	late := simnet.SendFault{AckDelay: 400 * time.Millisecond}
	a.device().FailSends(late)
	if _, err := a.send(jidOf(friend), "late, to all"); err != nil {
		t.Fatal(err)
	}
	linked := a.linkUnnoticed(friend)
	a.device().FailSends(late)
	sent, err := a.send(jidOf(friend), "late, to some")
	if err != nil {
		t.Fatal(err)
	}
	if err := linked.WaitAcknowledged(testContext(t), sent.ID); err != nil {
		t.Fatal(err)
	}
	if got := a.manager.Traffic().SentAgain; got != 1 {
		t.Errorf("%d messages went out once more, want 1", got)
	}
}

// TestLeftOut_ByAnAnswerBehindTheReceipt, which had already ended the send.
func TestLeftOut_ByAnAnswerBehindTheReceipt(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	for alone, delay := range map[time.Duration]time.Duration{200 * time.Millisecond: time.Second, time.Minute: time.Second} {
		t.Run("alone "+alone.String(), func(t *testing.T) {
			a := startAccount(t, network, t.TempDir())
			a.phone = newPhone(t, network, fmt.Sprintf("15550100%03d", alone.Milliseconds()%1000), "Alex")
			a.pair()
			a.manager.SetWaits(time.Minute, time.Minute, 0)
			a.manager.SetAlone(alone)
			friend := newPhone(t, network, fmt.Sprintf("15550101%03d", alone.Milliseconds()%1000), "Sam")
			if _, err := a.send(jidOf(friend), "before"); err != nil {
				t.Fatal(err)
			}
			linked := a.linkUnnoticed(friend)
			a.device().FailSends(simnet.SendFault{AckDelay: delay})
			sent, err := a.send(jidOf(friend), "late")
			if err != nil {
				t.Fatal(err)
			}
			if err := linked.WaitAcknowledged(testContext(t), sent.ID); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestLeftOut_TheSendDoesNotWaitForIt: the send is answered even if the network does not
// answer the query about devices. A lost connection ends the query, not the resend:
// the next connection makes it, unless the message was deleted in the meantime.
func TestLeftOut_TheSendDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	for name, deleted := range map[string]bool{"kept": false, "deleted": true} {
		if _, err := a.send(jidOf(friend), "before"); err != nil {
			t.Fatal(err)
		}
		linked := a.linkUnnoticed(friend)
		asked := a.device().Queries("usync")
		a.device().FailQueries(simnet.IQFault{Namespace: "usync", Silent: true, Times: 1})
		sent, err := a.send(jidOf(friend), name)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the question about the devices", func() bool { return a.device().Queries("usync") > asked })
		if deleted {
			if err := a.forget(ctx, jidOf(friend), sent.ID); err != nil {
				t.Fatal(err)
			}
		}
		logins := a.device().Counters().Logins
		a.device().Drop()
		if err := a.device().WaitLogins(ctx, logins+1); err != nil {
			t.Fatal(err)
		}
		a.waitState(bridge.StateOpen)
		if !deleted {
			if err := linked.WaitAcknowledged(ctx, sent.ID); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			continue
		}
		last, err := a.send(jidOf(friend), "for all")
		if err != nil {
			t.Fatal(err)
		}
		if err := linked.WaitAcknowledged(ctx, last.ID); err != nil {
			t.Fatal(err)
		}
		if got := deliveries(linked, sent.ID); got != 0 {
			t.Errorf("a message that was deleted came %d times", got)
		}
	}
}

// forget stores the deletion of an own message by the phone.
func (a *account) forget(ctx context.Context, chat bridge.JID, id string) error {
	return a.store.Save(ctx, bridge.Deletion{Chat: chat, Target: id, By: jidOf(a.phone), Timestamp: bridge.At(time.Now())})
}
