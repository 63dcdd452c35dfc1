package wa_test

import (
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// TestTooManyLogins_ArePausedAlsoAfterARestart: accounts that logged in 12 times a minute were refused for longer and
// longer.
func TestTooManyLogins_ArePausedAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	device := a.device()
	device.StreamError("429")
	a.waitError(bridge.StateClosed, "too many (code 429): trying again at ")
	status := a.manager.Status()
	if status.PausedUntil == nil || time.Until(status.PausedUntil.Time) > 64*time.Second || time.Until(status.PausedUntil.Time) < 30*time.Second {
		t.Fatalf("the first pause ends at %v, want a minute from now", status.PausedUntil)
	}
	a.stop()

	logins := device.Counters().Logins
	device.EndLogins("429", 1)
	b := startAccount(t, network, dir)
	b.phone = a.phone
	b.waitError(bridge.StateClosed, "too many (code 429): trying again at "+status.PausedUntil.String()[:16])
	if err := b.manager.Ready(); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("Ready while paused: %v", err)
	}
	if got := device.Counters().Logins; got != logins {
		t.Errorf("%d logins during the pause", got-logins)
	}
	if err := b.manager.Reconnect(testContext(t)); err != nil { // a person may try
		t.Fatal(err)
	}
	if err := device.WaitLogins(testContext(t), logins+1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second pause, of two minutes", func() bool {
		until := b.manager.Status().PausedUntil
		return until != nil && time.Until(until.Time) > 100*time.Second
	})
	if err := b.manager.Reconnect(testContext(t)); err != nil {
		t.Fatal(err)
	}
	b.waitState(bridge.StateOpen)
	if until := b.manager.Status().PausedUntil; until != nil {
		t.Errorf("open, and paused until %v", until)
	}
}

func TestUnavailable_AgainAndAgainIsPaused(t *testing.T) {
	t.Parallel()
	a := newAccount(t, newNetwork(t))
	a.device().EndLogins("503", 2) // with the one below the third
	a.device().StreamError("503")
	a.waitError(bridge.StateClosed, "several logins in a row (code 503): trying again at ")
}

// TestPairing_PauseOfAnEarlierRunHolds, also if a person asks for a code; the answer names its end.
func TestPairing_PauseOfAnEarlierRunHolds(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	b := startAccount(t, network, t.TempDir(), storing(t, "login_pause", "9999999999 3 429"))
	b.waitError(bridge.StateNeedsPair, "too many (code 429)")
	if _, err := b.manager.Pair(testContext(t), accountNumber); bridge.CodeOf(err) != bridge.CodeNotConnected || !strings.Contains(err.Error(), "trying again at") {
		t.Errorf("pair while paused: %v", err)
	}
	if got := network.UnpairedSockets(); got != 0 {
		t.Errorf("%d sockets during the pause", got)
	}
}
