package maintenance

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

// keptLog is a log that is kept within limits.
type keptLog struct {
	t     *testing.T
	store *store.Store
	said  int
	off   atomic.Int64 // by how much the clock is wrong
}

func newKeptLog(t *testing.T, o Options) *keptLog {
	t.Helper()
	k := &keptLog{t: t}
	began := time.Now()
	clock := bridge.ClockOf(time.Time{},
		func() time.Time { return time.Now().Add(time.Duration(k.off.Load())) },
		func() time.Duration { return time.Since(began) })
	s, err := store.Open(t.Context(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop(), Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	k.store, o.Store, o.Log = s, s, zerolog.Nop()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(ctx, limitPause, o.eventLimits(), o.Log)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// say stores n messages, each of which is an event.
func (k *keptLog) say(n int) {
	k.t.Helper()
	chat := bridge.JID("15550100301@s.whatsapp.net")
	for range n {
		k.said++
		m := bridge.Message{Chat: chat, ID: fmt.Sprint("M", k.said), SenderJID: chat, MessageType: "conversation", Content: "hi", Timestamp: bridge.At(time.Now())}
		if err := k.store.Save(k.t.Context(), m); err != nil {
			k.t.Fatal(err)
		}
	}
}

func (k *keptLog) size() int {
	k.t.Helper()
	page, err := k.store.Events(k.t.Context(), store.EventQuery{Limit: 1000})
	if err != nil {
		k.t.Fatal(err)
	}
	return len(page.Events)
}

func TestEventLimits_TakeEffectWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeptLog(t, Options{EventsMaxCount: 20})
		for range 5 {
			k.say(30)
			time.Sleep(limitPause + time.Millisecond)
			if n := k.size(); n != 20 {
				t.Errorf("%d events are there", n)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		k := newKeptLog(t, Options{EventsMaxAge: 10 * time.Minute})
		k.say(5)
		time.Sleep(9 * time.Minute)
		k.say(3)
		if n := k.size(); n != 9 { // the chat's own is one
			t.Errorf("%d events are there", n)
		}
		time.Sleep(2*time.Minute + time.Second)
		if n := k.size(); n != 3 {
			t.Errorf("%d events are there after eleven minutes", n)
		}
	})
}

// A clock that jumps, also for hours, removes nothing; one that is steady does.
func TestEventLimits_DoNotTrustAClockThatJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeptLog(t, Options{EventsMaxAge: 10 * 24 * time.Hour})
		k.say(5)
		for _, by := range []time.Duration{60 * 24 * time.Hour, 0, -60 * 24 * time.Hour, 0, 3 * 365 * 24 * time.Hour} {
			time.Sleep(50 * time.Minute)
			k.off.Store(int64(by))
		}
		time.Sleep(50 * time.Minute)
		if n := k.size(); n != 6 {
			t.Errorf("%d events are left", n)
		}
		k.off.Store(0)
		time.Sleep(10 * 24 * time.Hour)
		if n := k.size(); n != 0 {
			t.Errorf("%d events are there after ten days", n)
		}
	})
}
