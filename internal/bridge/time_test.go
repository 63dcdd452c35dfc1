package bridge

import (
	"encoding/json"
	"math"
	"testing"
	"time"
)

// TestTime_StaysWithinWhatRFC3339CanWrite names moments that were once shown
// with years of five and more digits, which no client could read.
func TestTime_StaysWithinWhatRFC3339CanWrite(t *testing.T) {
	for _, at := range []Time{
		Millis(math.MinInt64), Millis(math.MaxInt64), Millis(253402300800_000), Millis(0), Millis(-1),
		At(time.Unix(math.MaxInt64, 0)), At(time.Unix(math.MinInt64, 0)), At(time.Time{}),
		At(time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600))),
	} {
		text, err := json.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		var read Time
		if err := json.Unmarshal(text, &read); err != nil || !read.Equal(at.Time) {
			t.Errorf("%s is read as %s: %v", text, read, err)
		}
		if again := Millis(at.UnixMilli()); !again.Equal(at.Time) {
			t.Errorf("%s is stored as %s", at, again)
		}
	}
}
