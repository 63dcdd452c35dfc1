package wa_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// After days offline, the clock for expiry waits until the network confirms the machine's. A login
// carries the network's time, so no message is needed.
func TestClock_IsConfirmedByALogin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	past := time.Now().Add(-48 * time.Hour)
	network := newNetwork(t)
	newAccountIn(t, network, dir).stop()
	lastRun(t, dir, past)
	a := startAccount(t, network, dir)
	a.waitState(bridge.StateOpen)
	if now := a.store.Clock().Now(); time.Since(now) > time.Minute {
		t.Errorf("the clock shows %s, as if no time had passed since the last run", now)
	}
}

// lastRun leaves a store whose last event is from the given time.
func lastRun(t *testing.T, dir string, at time.Time) {
	t.Helper()
	clock := bridge.ClockOf(at, func() time.Time { return at }, func() time.Duration { return 0 })
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "bridged.db"), Log: zerolog.Nop(), Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), bridge.Status{Status: bridge.StateIdle}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
