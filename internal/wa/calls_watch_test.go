package wa

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// missedCalls is a store that records when it is asked to turn calls into missed
// ones.
type missedCalls struct {
	Store
	began time.Time

	mu  sync.Mutex      // guards everything below
	err error           // the store's answer
	at  []time.Duration // times of the requests
}

// looks returns the times of the requests so far and makes the store answer err
// from now on.
func (s *missedCalls) looks(err error) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	return slices.Clone(s.at)
}

func (s *missedCalls) Save(_ context.Context, facts ...bridge.Fact) error {
	if facts[0] != (bridge.CallsMissed{Ringing: convert.RingTime}) {
		return errors.New("something else is saved")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Since(s.began))
	return s.err
}

// A call without a reported end becomes missed soon after it has rung for long
// enough, even if the store fails for a while. While nothing rings, the store gets
// no requests.
func TestWatchCalls_LooksWhileSomethingRings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, drill := &missedCalls{began: time.Now()}, errors.New("drill")
		m := &Manager{store: s, log: zerolog.Nop(), rang: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.watchCalls(ctx)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if at := s.looks(drill); len(at) != 0 {
			t.Errorf("nothing rings, and the store is asked at %v", at)
		}
		m.noteRinging([]bridge.Fact{bridge.Identity{}, bridge.Call{ID: "A"}, bridge.Call{ID: "B"}})
		time.Sleep(convert.RingTime / convert.LooksAtRinging)
		synctest.Wait()
		s.looks(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		missed := func(at time.Duration) bool {
			return at >= 10*time.Minute+convert.RingTime && at <= 10*time.Minute+convert.RingTime+convert.RingTime/2
		}
		if at := s.looks(nil); len(at) != convert.LooksAtRinging+2 || !slices.ContainsFunc(at, missed) {
			t.Errorf("the store is asked at %v", at)
		}
	})
}
