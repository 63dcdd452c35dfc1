package wa

import (
	"testing"
	"time"
)

// TestPause_IsBackSoonAfterAShortOutageAndWithinAMinuteAfterALongOne holds
// the pauses to the promise: 10 s after a minute's outage, 60 s after hours.
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
