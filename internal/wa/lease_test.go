package wa_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// fakeLease grants and withdraws the lease of the session on demand.
type fakeLease struct {
	mu       sync.Mutex
	refusal  error  // guarded by mu
	changed  func() // guarded by mu
	session  string
	released func()
}

func (f *fakeLease) Acquire(s string, changed func()) (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session, f.changed = s, changed
	return func() {
		if f.released != nil {
			f.released()
		}
	}
}

func (f *fakeLease) Refusal() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refusal
}

func (f *fakeLease) set(refusal error) {
	f.mu.Lock()
	f.refusal = refusal
	changed := f.changed
	f.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// leasedAccount restarts a paired account with a lease.
func leasedAccount(t *testing.T, network *simnet.Network, lease *fakeLease) *account {
	t.Helper()
	dir := t.TempDir()
	before := newAccountIn(t, network, dir)
	before.stop()
	a := startAccountLogging(t, network, dir, testLog(t), func(s *store.Store) wa.Store { return s }, func(o *wa.Options) { o.Lease = lease })
	a.phone = before.phone
	return a
}

// A session that another process runs is not dialled, not even on request, until
// the lease is granted.
func TestLease_NothingIsDialledWithoutIt(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	lease := &fakeLease{refusal: bridge.ErrLeaseUnknown}
	a := leasedAccount(t, network, lease)
	eventually(t, "the lease to be sought", func() bool { lease.mu.Lock(); defer lease.mu.Unlock(); return lease.changed != nil })
	if len(lease.session) != 16 {
		t.Errorf("sought for %+v", lease.session)
	}
	held := errors.New("it is run by node-2")
	lease.set(held)
	a.waitState(bridge.StateClosed)
	if status := a.manager.Status(); status.LastError == nil || *status.LastError != held.Error() {
		t.Errorf("lastError %v", status.LastError)
	}
	if err := a.manager.Reconnect(testContext(t)); bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("reconnect: %v", err)
	}
	if a.device().Connected() || a.manager.Status().Status != bridge.StateClosed {
		t.Error("the session was dialled")
	}
	lease.set(nil)
	a.waitState(bridge.StateOpen)
}

// When the lease is withdrawn, the session is closed at once, and later stanzas are
// neither acknowledged nor sent.
func TestLease_TakenAway(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	lease := new(fakeLease)
	a := leasedAccount(t, network, lease)
	a.waitState(bridge.StateOpen)
	ben := newPhone(t, network, "15550100300", "Ben")
	lease.mu.Lock()
	lease.refusal = errors.New("it is run by node-2") // the supervisor does not know yet
	lease.mu.Unlock()
	if _, err := a.send(jidOf(ben), "not sent"); bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("a send: %v", err)
	}
	if _, err := ben.SendText(testContext(t), a.phone.PN(), "kept by the network"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the connection to end", func() bool { return !a.device().Connected() })
	if got := a.messages(jidOf(ben)); len(got) != 0 {
		t.Errorf("stored without the lease: %d messages", len(got))
	}
	lease.set(lease.Refusal())
	a.waitState(bridge.StateClosed)
	lease.set(nil)
	eventually(t, "the message", func() bool { return len(a.messages(jidOf(ben))) == 1 })
}

// The lease is released after the session's connection has ended.
func TestLease_ReleasedBehindTheConnection(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	ended := errors.New("not given back")
	lease := new(fakeLease)
	a := leasedAccount(t, network, lease)
	a.waitState(bridge.StateOpen)
	device := a.device()
	lease.released = func() {
		// The network may notice the end a little later; while the lease is being
		// released it would not.
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		ended = device.WaitOffline(ctx)
	}
	a.stop()
	if ended != nil {
		t.Errorf("given back while the session was connected: %v", ended)
	}
}
