package wa

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPause_IsBackSoonAfterAShortOutageAndWithinAMinuteAfterALongOne: as promised,
// 10 s after a minute's outage, 60 s after hours.
func TestPause_IsBackSoonAfterAShortOutageAndWithinAMinuteAfterALongOne(t *testing.T) {
	if got := pause(0, 0); got != 0 {
		t.Errorf("first try after %v, want at once", got)
	}
	for n := 1; n < 2000; n++ {
		if got := pause(n, time.Minute); got <= 0 || got > shortPause {
			t.Fatalf("try %d in the first minutes after %v, want at most %v", n, got, shortPause)
		}
		if got := pause(n, 5*time.Hour); got <= 0 || got > longPause {
			t.Fatalf("try %d after hours after %v, want at most %v", n, got, longPause)
		}
	}
	if longPause+dialTimeout > time.Minute || shortPause > 10*time.Second {
		t.Error("the pauses alone break the promise")
	}
}

// TestRetry_ALineThatDropsOftenIsDialledAtOnce: a connection that worked for a
// while is dialled again without a pause, one that never works with growing ones.
func TestRetry_ALineThatDropsOftenIsDialledAtOnce(t *testing.T) {
	for _, c := range []struct {
		lasts, most, least time.Duration
	}{
		{35 * time.Second, 0, 0},
		{time.Second, 48 * shortPause, 40 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &connection{supervisor: supervisor{timer: time.NewTimer(time.Hour), connecting: time.NewTimer(time.Hour)}}
			var away time.Duration
			for range 48 {
				s.phase, s.openAt = phaseOpen, time.Now()
				time.Sleep(c.lasts)
				s.lost()
				wait := s.nextPause()
				time.Sleep(wait)
				away += wait
			}
			if away > c.most || away < c.least {
				t.Errorf("a line that lasts %v is away for %v, want %v to %v", c.lasts, away, c.least, c.most)
			}
		})
	}
}
