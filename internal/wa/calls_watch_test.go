package wa

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// missedCalls is a store that notes when calls are made missed ones.
type missedCalls struct {
	Store
	began time.Time
	err   error
	at    []time.Duration
}

func (s *missedCalls) Save(_ context.Context, facts ...bridge.Fact) error {
	if facts[0] != (bridge.CallsMissed{Ringing: ringTime}) {
		return errors.New("something else is saved")
	}
	s.at = append(s.at, time.Since(s.began))
	return s.err
}

// A call of whose end nobody tells is missed soon after it has rung for long enough,
// also where the store fails for a while. While nothing rings, the store is left alone.
func TestWatchCalls_LooksWhileSomethingRings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &missedCalls{began: time.Now(), err: errors.New("drill")}
		m := &Manager{store: s, log: zerolog.Nop(), rang: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.watchCalls(ctx)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(s.at) != 0 {
			t.Errorf("nothing rings, and the store is asked at %v", s.at)
		}
		m.noteRinging([]bridge.Fact{bridge.Identity{}, bridge.Call{ID: "A"}, bridge.Call{ID: "B"}})
		time.Sleep(ringTime / looksAtRinging)
		synctest.Wait()
		s.err = nil
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		missed := func(at time.Duration) bool {
			return at >= 10*time.Minute+ringTime && at <= 10*time.Minute+ringTime+ringTime/2
		}
		if len(s.at) != looksAtRinging+2 || !slices.ContainsFunc(s.at, missed) {
			t.Errorf("the store is asked at %v", s.at)
		}
	})
}
