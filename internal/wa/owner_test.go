package wa_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// ownerless cannot read the store's owner while broken is set.
type ownerless struct {
	*store.Store
	broken atomic.Bool
	asked  atomic.Int32
}

func (o *ownerless) OwnerOf(ctx context.Context) (bridge.Owner, bool, error) {
	o.asked.Add(1)
	if o.broken.Load() {
		return bridge.Owner{}, false, bridge.Fail(bridge.CodeStorageUnavailable, "the drill's sentence").Because(errors.New("drill"))
	}
	return o.Store.OwnerOf(ctx)
}

// TestOwner_ThatCannotBeReadIsNoPermission: a session connects only to its own
// account's store. While the owner cannot be read it stays offline and tries again
// by itself.
func TestOwner_ThatCannotBeReadIsNoPermission(t *testing.T) {
	t.Parallel()
	network, dir := newNetwork(t), t.TempDir()
	a := startAccount(t, network, dir)
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	a.stop()
	wrapped := new(ownerless)
	wrapped.broken.Store(true)
	b := startAccountWith(t, network, dir, func(s *store.Store) wa.Store {
		wrapped.Store = s
		return wrapped
	})
	b.phone = a.phone
	eventually(t, "a sentence about the owner", func() bool { return strings.Contains(b.lastError(), "the drill's sentence") })
	if status := b.manager.Status().Status; status == bridge.StateOpen {
		t.Error("connected without knowing the store's owner")
	}
	if err := b.manager.Reconnect(testContext(t)); bridge.CodeOf(err) != bridge.CodeStorageUnavailable {
		t.Errorf("reconnect: got %v, want storage_unavailable", err)
	}
	wrapped.broken.Store(false)
	b.waitState(bridge.StateOpen)
}

// damaged reports damage.
type damaged struct {
	*store.Store
	broken atomic.Bool
}

func (d *damaged) Damage() error {
	if d.broken.Load() {
		return bridge.Fail(bridge.CodeStorageUnavailable, "the drill's damage").Because(errors.New("drill"))
	}
	return nil
}

// TestDamage_IsReportedInTheStatus: undamaged functions go on, so the account stays
// open.
func TestDamage_IsReportedInTheStatus(t *testing.T) {
	t.Parallel()
	wrapped := new(damaged)
	network := newNetwork(t)
	a := startAccountWith(t, network, t.TempDir(), func(s *store.Store) wa.Store {
		wrapped.Store = s
		return wrapped
	})
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
	wrapped.broken.Store(true)
	a.waitError(bridge.StateOpen, "the drill's damage")
}
