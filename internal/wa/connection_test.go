package wa_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// device returns the bridge's device on the network.
func (a *account) device() *simnet.Device {
	a.t.Helper()
	devices := a.phone.LinkedDevices()
	if len(devices) != 1 {
		a.t.Fatalf("linked devices: got %d, want 1", len(devices))
	}
	return devices[0]
}

func (a *account) lastError() string {
	if sentence := a.manager.Status().LastError; sentence != nil {
		return *sentence
	}
	return ""
}

// waitError waits for a state whose sentence contains part.
func (a *account) waitError(want bridge.State, part string) {
	a.t.Helper()
	eventually(a.t, fmt.Sprintf("status %s because %q", want, part), func() bool {
		return a.manager.Status().Status == want && strings.Contains(a.lastError(), part)
	})
}

func TestConnection_ComesBackByItself(t *testing.T) {
	for name, harm := range map[string]func(*simnet.Network, *simnet.Device){
		"dropped":          func(_ *simnet.Network, d *simnet.Device) { d.Drop() },
		"frozen":           func(_ *simnet.Network, d *simnet.Device) { d.Freeze() },
		"stream error 503": func(_ *simnet.Network, d *simnet.Device) { d.StreamError("503") },
		"stream error 515": func(_ *simnet.Network, d *simnet.Device) { d.StreamError("515") },
		"unknown stream error": func(_ *simnet.Network, d *simnet.Device) {
			d.StreamError("599")
		},
		"server restart": func(n *simnet.Network, d *simnet.Device) {
			d.FailLogins(simnet.ConnectFailure{Reason: 503}, 2)
			d.Drop()
		},
		"frame damaged": func(n *simnet.Network, d *simnet.Device) { d.CorruptFrames(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			network := newNetwork(t)
			a := newAccount(t, network)
			friend := newPhone(t, network, "15550100301", "Sam")
			if _, err := friend.SendText(ctx, a.phone.PN(), "before"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the first message", func() bool { return len(a.messages(jidOf(friend))) == 1 })
			harm(network, a.device())
			if _, err := friend.SendText(ctx, a.phone.PN(), "after"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the second message", func() bool { return len(a.messages(jidOf(friend))) == 2 })
			a.waitState(bridge.StateOpen)
			if _, err := a.send(jidOf(friend), "answer"); err != nil {
				t.Errorf("send after the connection came back: %v", err)
			}
		})
	}
}

func TestConnection_ReplacedStaysClosedUntilReconnect(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	a.device().Replace()
	a.waitError(bridge.StateClosed, "another client")
	if err := a.manager.Ready(); bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("Ready while replaced: got %v", err)
	}
	if err := a.manager.Reconnect(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("last error while open: %q", sentence)
	}
}

func TestConnection_BannedTriesAtTheEnd(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	device := a.device()
	device.FailLogins(simnet.ConnectFailure{Reason: 402, Code: 101, Expire: 2 * time.Second}, 1)
	device.Drop()
	a.waitError(bridge.StateClosed, "banned until")
	a.waitState(bridge.StateOpen)
}

func TestConnection_RefusedLoginSaysSo(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	device := a.device()
	device.FailLogins(simnet.ConnectFailure{Reason: 409}, 1)
	device.Drop()
	a.waitError(bridge.StateClosed, "refused the login (code 409)")
}

func TestConnection_UnlinkedNeedsPairing(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	a.phone.Unlink(a.device())
	a.waitError(bridge.StateNeedsPair, "unlinked from the phone")
	if status := a.manager.Status(); status.HasSession || status.User != nil {
		t.Errorf("a session is left: %+v", status)
	}
	a.pair()
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("last error after pairing again: %q", sentence)
	}
}

func TestConnection_LoggedOutAtLoginNeedsPairing(t *testing.T) {
	for reason, part := range map[int]string{401: "unlinked from the phone", 403: "locked", 406: "logged out by the network"} {
		t.Run(fmt.Sprint(reason), func(t *testing.T) {
			t.Parallel()
			a := newAccount(t, newNetwork(t))
			device := a.device()
			device.FailLogins(simnet.ConnectFailure{Reason: reason}, 1)
			device.Drop()
			a.waitError(bridge.StateNeedsPair, part)
		})
	}
}

func TestConnection_NetworkAwayIsClosedAfterAWhileAndBackSoon(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	network.Down()
	a.waitState(bridge.StateConnecting)
	a.waitState(bridge.StateClosed)
	network.Up()
	a.waitState(bridge.StateOpen)
}

func TestStoreFailing_NothingIsAcknowledgedAndAllComesAgain(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	device := a.device()
	a.fault.Set(bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full").Because(errors.New("drill")))
	ids := make([]simnet.MessageID, 20)
	for i := range ids {
		id, err := friend.SendText(ctx, a.phone.PN(), fmt.Sprintf("message %d", i))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
	}
	eventually(t, "a sentence about the store", func() bool {
		return strings.Contains(a.lastError(), "could not be stored; the network sends it again: the disk is full")
	})
	for _, acknowledged := range device.AcknowledgedMessages() {
		t.Errorf("acknowledged without being stored: %+v", acknowledged)
	}
	a.fault.Set(nil)
	if err := device.WaitAcknowledged(ctx, ids...); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	stored := a.messages(jidOf(friend))
	if len(stored) != len(ids) {
		t.Fatalf("stored: got %d messages, want %d", len(stored), len(ids))
	}
	for i, m := range stored {
		if m.ID != ids[i] {
			t.Errorf("message %d: got %s, want %s", i, m.ID, ids[i])
		}
	}
}

func TestUndecryptable_PlaceholderIsReplacedByTheRealMessage(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := friend.SendText(ctx, a.phone.PN(), "one"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first message", func() bool { return len(a.messages(jidOf(friend))) == 1 })
	a.device().CorruptMessages(1)
	if _, err := friend.SendText(ctx, a.phone.PN(), "two"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the real message", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == 2 && list[1].Content == "two" && list[1].MessageType == "conversation"
	})
}

// TestPair_OtherAccountIsRefused: a store belongs to one account for good.
func TestPair_OtherAccountIsRefused(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	if _, err := a.manager.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateNeedsPair)
	if _, err := a.manager.Pair(ctx, "15550100999"); bridge.CodeOf(err) != bridge.CodeOtherAccount {
		t.Errorf("pair another account by code: got %v", err)
	}
	other := newPhone(t, network, "15550100999", "Kim")
	if _, err := other.HoldTo(ctx, a.shownQR); err == nil {
		t.Error("another account paired by QR")
	}
	a.waitError(bridge.StateNeedsPair, "another account")
	a.pair()
}

func TestLogout_UnlinksAndWorksTwice(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a := newAccount(t, newNetwork(t))
	unlinked, err := a.manager.Logout(ctx)
	if err != nil || !unlinked {
		t.Errorf("logout: got %v, %v, want true", unlinked, err)
	}
	a.waitState(bridge.StateNeedsPair)
	if n := len(a.phone.LinkedDevices()); n != 0 {
		t.Errorf("the phone still lists %d devices", n)
	}
	if unlinked, err := a.manager.Logout(ctx); err != nil || unlinked {
		t.Errorf("second logout: got %v, %v, want false", unlinked, err)
	}
}

func TestPhoneAway_IsWarnedAboutBeforeTheLinkIsRemoved(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	if sentence := a.lastError(); sentence != "" {
		t.Errorf("warned without a cause: %s", sentence)
	}
	if err := a.device().WaitQuiet(testContext(t)); err != nil {
		t.Fatal(err) // otherwise the phone's remaining messages would count as a sign of life
	}
	a.phone.Disconnect()
	a.stop()
	b := startAccount(t, network, dir, func(s *store.Store) {
		seen := time.Now().Add(-13 * 24 * time.Hour).Unix()
		if err := s.SetSetting(testContext(t), "phone_seen", fmt.Sprint(seen)); err != nil {
			t.Fatal(err)
		}
	})
	b.waitError(bridge.StateOpen, "the phone was last seen on")
}

// TestPhoneAway_IsAskedFirst: the phone of an idle account has had nothing to send,
// and answers a query. There is no warning.
func TestPhoneAway_IsAskedFirst(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	if err := a.device().WaitQuiet(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.stop()
	old := fmt.Sprint(time.Now().Add(-13 * 24 * time.Hour).Unix())
	b := startAccount(t, network, dir, func(s *store.Store) {
		if err := s.SetSetting(testContext(t), "phone_seen", old); err != nil {
			t.Fatal(err)
		}
	})
	b.phone = a.phone
	b.waitState(bridge.StateOpen)
	eventually(t, "a sign of life", func() bool {
		seen, err := b.store.Setting(testContext(t), "phone_seen")
		return err == nil && seen != old
	})
	if sentence := b.lastError(); sentence != "" {
		t.Errorf("warned of a phone that answers: %s", sentence)
	}
}

// panickyStore panics on the first message, as a bug would.
type panickyStore struct {
	*store.Store
	panicked atomic.Bool
}

func (p *panickyStore) Save(ctx context.Context, facts ...bridge.Fact) error {
	for _, fact := range facts {
		if _, isMessage := fact.(bridge.Message); isMessage && !p.panicked.Swap(true) {
			panic("drill")
		}
	}
	return p.Store.Save(ctx, facts...)
}

// TestHandlerPanic_IsNoAcknowledgement: whatsmeow counts a panicking handler as
// success.
func TestHandlerPanic_IsNoAcknowledgement(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	wrapped := new(panickyStore)
	a := startAccountWith(t, network, t.TempDir(), func(s *store.Store) wa.Store {
		wrapped.Store = s
		return wrapped
	})
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := friend.SendText(ctx, a.phone.PN(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := friend.SendText(ctx, a.phone.PN(), "two"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both messages in order", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == 2 && list[0].Content == "one" && list[1].Content == "two"
	})
	if !wrapped.panicked.Load() {
		t.Error("the store did not panic")
	}
}

func TestDelivery_TwiceIsStoredOnce(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	device := a.device()
	device.Duplicate(5)
	device.IgnoreAcks(5)
	for n := range 10 {
		if _, err := friend.SendText(ctx, a.phone.PN(), fmt.Sprintf("message %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "ten messages", func() bool { return len(a.messages(jidOf(friend))) == 10 })
	device.Drop() // the unacknowledged message comes again
	if err := device.WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	for n, m := range a.messages(jidOf(friend)) {
		if want := fmt.Sprintf("message %d", n); m.Content != want {
			t.Errorf("message %d: got %q, want %q", n, m.Content, want)
		}
	}
	if got := len(a.messages(jidOf(friend))); got != 10 {
		t.Errorf("stored %d messages, want 10", got)
	}
}

// A refusal may leave its connection open. If the next dial reused it, it could not
// be cut: a refused stanza would never come again.
func TestConnection_CanBeCutAfterTheNetworkRefusedOne(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	logins := a.device().Counters().Logins
	network.RefuseSockets(503)
	a.device().Drop()
	a.waitError(bridge.StateConnecting, "cannot be reached")
	network.AcceptSockets()
	if err := a.device().WaitLogins(ctx, logins+1); err != nil {
		t.Fatal(err)
	}
	a.waitState(bridge.StateOpen)
	a.fault.Set(errors.New("drill"))
	if _, err := friend.SendText(ctx, a.phone.PN(), "comes again"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal", func() bool { return a.lastError() != "" })
	a.fault.Set(nil)
	eventually(t, "the message", func() bool { return len(a.messages(jidOf(friend))) == 1 })
	a.waitState(bridge.StateOpen)
}
