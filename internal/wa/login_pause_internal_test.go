package wa

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLoginPause_DoublesFromAMinuteToHalfAnHour(t *testing.T) {
	now := time.Now()
	var p loginPause
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30} {
		want *= time.Minute
		if got := p.refused("429", now); got < want || got > want+want/20 {
			t.Errorf("pause %d lasts %v, want %v to 5%% more", i+1, got, want)
		}
	}
	var restarted loginPause
	restarted.decode(p.encode())
	if got := restarted.refused("429", now); got < 30*time.Minute {
		t.Errorf("the next pause after a restart lasts %v", got)
	}
	if !p.worked() || p.worked() {
		t.Error("a login that lasts does not end the pauses")
	}
	if got := p.refused("429", now); got >= 2*time.Minute {
		t.Errorf("the first pause after that lasts %v", got)
	}
}

// TestLoginPause_AServerThatRestartsCausesNone, one that stays unavailable does.
func TestLoginPause_AServerThatRestartsCausesNone(t *testing.T) {
	var p loginPause
	now := time.Now()
	for i, want := range []bool{false, false, true, true} {
		if got := p.refused("503", now); got > 0 != want {
			t.Errorf("503 number %d: a pause of %v", i+1, got)
		}
	}
}

// TestLoginPause_ALoginOfLessThanHalfAMinuteDoesNotEndABackOff: an account logged in 12 times in 62 seconds.
func TestLoginPause_ALoginOfLessThanHalfAMinuteDoesNotEndABackOff(t *testing.T) {
	for lasts, ends := range map[time.Duration]bool{29 * time.Second: false, 31 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			s := &connection{supervisor: supervisor{timer: time.NewTimer(time.Hour), connecting: time.NewTimer(time.Hour)}}
			s.tries, s.phase, s.openAt = 5, phaseOpen, time.Now()
			time.Sleep(lasts)
			s.lost()
			if got := s.tries == 0; got != ends {
				t.Errorf("after a login of %v the next try is number %d", lasts, s.tries)
			}
		})
	}
}

func TestPairing_PausesWithoutCodesGrowToAMinute(t *testing.T) {
	var total time.Duration
	for n := 1; n <= 10; n++ {
		total += pairingPauseAfter(n)
	}
	if pairingPauseAfter(1) != time.Second || pairingPauseAfter(1000) != time.Minute || total < 5*time.Minute {
		t.Errorf("pauses of %v, then up to %v; ten take %v", pairingPauseAfter(1), pairingPauseAfter(1000), total)
	}
}
