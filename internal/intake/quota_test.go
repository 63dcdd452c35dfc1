package intake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// taker counts what is usage of a quota, and cancel off.
type taker struct {
	t      *testing.T
	quota  *Quota
	cancel int
}

// take takes a part, and returns where the reservation comes once there is room.
func (k *taker) take(tree, size int64) chan *Reservation {
	given := make(chan *Reservation, 1)
	go func() {
		g, err := k.quota.Take(k.t.Context(), tree, size, func() { k.cancel++ })
		if err != nil && k.t.Context().Err() == nil {
			k.t.Error(err)
		}
		given <- g
	}()
	synctest.Wait()
	return given
}

func (k *taker) wantGiven(what string, given chan *Reservation, want bool) {
	k.t.Helper()
	if len(given) == 1 != want {
		k.t.Errorf("%s: given %v, want %v", what, !want, want)
	}
}

// A tree that has its share holds up itself alone, and others that have theirs
// never the operator.
func TestQuota_Shares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		k := &taker{t: t, quota: NewQuota(Divide(80), time.Hour, 1)} // 60 for others, 40 for each
		first := k.take(7, 40)
		k.wantGiven("a whole share", first, true)
		more := k.take(7, 1)
		k.wantGiven("more than a share", more, false)
		other := k.take(8, 20)
		k.wantGiven("another tree", other, true)
		third := k.take(9, 1)
		k.wantGiven("a third, where others have all", third, false)
		operator := k.take(Operator, 20)
		k.wantGiven("the operator", operator, true)
		(<-other).Release()
		synctest.Wait()
		k.wantGiven("the third, after the second", third, true)
		k.wantGiven("more of the first", more, false)
		reserved := <-first
		reserved.Release()
		reserved.Release()
		synctest.Wait()
		k.wantGiven("more of the first, after the first", more, true)
		if _, err := k.quota.Take(ctx, 7, 41, nil); !errors.Is(err, ErrTooLarge) {
			t.Errorf("more than a share: %v", err)
		}
		(<-more).Release()
		(<-third).Release()
		(<-operator).Release()
		if k.quota.used != 0 || k.quota.others != 0 || len(k.quota.of) != 0 || len(k.quota.reservations) != 0 {
			t.Errorf("%d are used, %d by others, %v", k.quota.used, k.quota.others, k.quota.of)
		}
	})
}

// Who waits is let go when it leaves, and makes way for the next.
func TestQuota_WaitersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &taker{t: t, quota: NewQuota(Divide(80), time.Hour, 1)}
		first := <-k.take(Operator, 50)
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := k.quota.Take(ctx, Operator, 40, nil)
			left <- err
		}()
		synctest.Wait()
		small := k.take(Operator, 10)
		k.wantGiven("one behind a larger one", small, false)
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("left with %v", err)
		}
		synctest.Wait()
		k.wantGiven("the next", small, true)
		first.Release()
		(<-small).Release()
	})
}

// Those that send too little are cancel off while others wait for their room, and
// only then; not those that have sent everything, nor the operator's for others.
func TestQuota_SlowOnesAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &taker{t: t, quota: NewQuota(Divide(80), time.Second, 10)}
		slow, quick, whole := <-k.take(7, 12), <-k.take(7, 12), <-k.take(7, 12)
		operator := <-k.take(Operator, 10)
		whole.Complete()
		steady := func(times int) {
			for range times {
				time.Sleep(500 * time.Millisecond)
				quick.Received(10)
			}
		}
		steady(20)
		if k.cancel != 0 {
			t.Errorf("%d were cancel off while nobody waited", k.cancel)
		}
		waits := k.take(8, 40)
		k.wantGiven("more than there is", waits, false)
		steady(6)
		if !slow.WasCancelled() || quick.WasCancelled() || whole.WasCancelled() || operator.WasCancelled() || k.cancel != 1 {
			t.Errorf("cancel off: slow %v, quick %v, whole %v, the operator's %v", slow.WasCancelled(), quick.WasCancelled(), whole.WasCancelled(), operator.WasCancelled())
		}
		slow.Release()
		synctest.Wait()
		k.wantGiven("one that waited", waits, false)
		whole.Release()
		quick.Release()
		synctest.Wait()
		k.wantGiven("one that waited", waits, true)
		(<-waits).Release()
		operator.Release()
	})
}
