package wa_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestBan_OutlastsARestart: a restarted program knows the ban, says when it ends,
// and leaves the network alone until then or until a person asks.
func TestBan_OutlastsARestart(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	device := a.device()
	device.FailLogins(simnet.ConnectFailure{Reason: 402, Code: 101, Expire: time.Hour}, 1)
	device.Drop()
	a.waitError(bridge.StateClosed, "banned until")
	reason, logins := a.lastError(), device.Counters().Logins
	a.stop()

	b := startAccount(t, network, dir)
	b.phone = a.phone
	b.waitError(bridge.StateClosed, reason)
	if _, err := b.send("15550100301@s.whatsapp.net", "anybody?"); bridge.CodeOf(err) != bridge.CodeNotConnected || !strings.Contains(err.Error(), reason) {
		t.Errorf("send while banned: got %v, want %s with the reason", err, bridge.CodeNotConnected)
	}
	if err := b.manager.Reconnect(ctx); err != nil {
		t.Fatal(err)
	}
	b.waitState(bridge.StateOpen)
	if got := device.Counters().Logins; got != logins+1 {
		t.Errorf("%d logins since the ban, want the one that was asked for", got-logins)
	}
	b.stop()

	c := startAccount(t, network, dir)
	c.waitState(bridge.StateOpen) // a lifted ban is forgotten
}

func TestBan_EndsInALaterRun(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	device := a.device()
	device.FailLogins(simnet.ConnectFailure{Reason: 402, Code: 101, Expire: 2 * time.Second}, 1)
	device.Drop()
	a.waitError(bridge.StateClosed, "banned until")
	a.stop()
	b := startAccount(t, network, dir)
	b.waitState(bridge.StateOpen)
}

// TestTimelock_RefusesNewChatsUntilItsEnd, and nothing else; the status names the
// end, even after a restart.
func TestTimelock_RefusesNewChatsUntilItsEnd(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	friend := newPhone(t, network, "15550100301", "Sam")
	stranger := newPhone(t, network, "15550100302", "Kim")
	if _, err := friend.SendText(ctx, a.phone.PN(), "hello"); err != nil {
		t.Fatal(err)
	}
	friend.Trust(a.phone)
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Hour)
	a.phone.LockReachout(until)
	sentence := "new chats until " + bridge.At(time.Unix(until.Unix(), 0)).String()
	a.waitError(bridge.StateOpen, sentence)
	a.refusesNewChats(stranger, friend)
	a.stop()

	asked := a.device().Queries("usync")
	b := startAccount(t, network, dir)
	b.phone = a.phone
	b.waitError(bridge.StateOpen, sentence)
	eventually(t, "the login's question for the default timer", func() bool { return b.device().Queries("usync") > asked })
	b.refusesNewChats(stranger, friend)

	a.phone.LockReachout(time.Time{})
	eventually(t, "the end in the status", func() bool { return b.lastError() == "" })
	if _, err := b.send(jidOf(stranger), "hello"); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// refusesNewChats writes to a new person, who is not even looked up, and to a
// friend.
func (a *account) refusesNewChats(stranger, friend *simnet.Phone) {
	a.t.Helper()
	device := a.device()
	sent, asked := device.Counters().Sent, device.Queries("usync")
	_, err := a.send(jidOf(stranger), "hello")
	var refusal *bridge.Error
	if !errors.As(err, &refusal) || refusal.Code != bridge.CodeReachoutRestricted || refusal.RetryAfter < 50*time.Minute || refusal.RetryAfter > time.Hour {
		a.t.Errorf("to a stranger: got %v, want %s for an hour", err, bridge.CodeReachoutRestricted)
	}
	if device.Counters().Sent != sent || device.Queries("usync") != asked || len(a.messages(jidOf(stranger))) != 0 {
		a.t.Error("the network was asked, or the message was stored")
	}
	if _, err := a.send(jidOf(friend), "an answer"); err != nil {
		a.t.Errorf("to a friend: %v", err)
	}
}

// TestTimelock_EndsByItself: the network does not notify the end that it has
// announced.
func TestTimelock_EndsByItself(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	stranger := newPhone(t, network, "15550100302", "Kim")
	a.phone.LockReachout(time.Now().Add(2 * time.Second))
	a.waitError(bridge.StateOpen, "new chats until")
	eventually(t, "the end in the status", func() bool { return a.lastError() == "" })
	if _, err := a.send(jidOf(stranger), "hello"); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// TestConnection_AskedToLogInAgain: the network sends 515 and leaves hanging up to
// the client.
func TestConnection_AskedToLogInAgain(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	device := a.device()
	logins := device.Counters().Logins
	device.AskToReconnect()
	if err := device.WaitLogins(ctx, logins+1); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	if _, err := a.send(jidOf(friend), "back"); err != nil {
		t.Error(err)
	}
}
