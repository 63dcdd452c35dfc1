package store

import (
	"path/filepath"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// TestClock_LeapsExpireNothing sets the machine's clock by years, ahead and
// back, under a store with a live Idempotency-Key.
func TestClock_LeapsExpireNothing(t *testing.T) {
	t.Parallel()
	for name, leap := range map[string]time.Duration{"ahead": 10 * 365 * 24 * time.Hour, "back": -10 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			ran, set := time.Duration(0), time.Duration(0)
			clock := bridge.ClockOf(time.Time{}, func() time.Time { return at(0).Add(ran + set) }, func() time.Duration { return ran })
			s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "bridged.db"), Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			save(t, s, iSay(alice, "A1", 1, "once"), bridge.SendKey{Key: "key", Chat: alice, MsgID: "A1"})
			ran, set = time.Minute, leap
			save(t, s, says(alice, alice, "A2", 2, "hi"), bridge.SendKey{Key: "another", Chat: alice, MsgID: "A2"})
			if _, bound, err := s.SendKey(t.Context(), "key"); err != nil || !bound {
				t.Errorf("the key is forgotten: %v, %v", bound, err)
			}
			if err := s.FailPending(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := *message(t, s, alice, "A1").Status; got != bridge.DeliveryPending {
				t.Errorf("the message under the key is %s", got)
			}
			if n, err := s.PruneEvents(t.Context(), s.Clock().Now().Add(-time.Hour), 0); err != nil || n != 0 {
				t.Errorf("%d events removed, %v", n, err)
			}
			if n, err := s.Retain(t.Context(), s.Clock().Now().AddDate(0, 0, -1)); err != nil || n != 0 {
				t.Errorf("%d messages removed, %v", n, err)
			}
			clock.Confirm(at(0).Add(ran)) // as the network knows
			set = 0
			ran = 25 * time.Hour
			if _, bound, err := s.SendKey(t.Context(), "key"); err != nil || bound {
				t.Errorf("a day later the key is still bound: %v, %v", bound, err)
			}
		})
	}
}
