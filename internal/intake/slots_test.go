package intake

import "testing"

// A family has half of the slots, and a quarter is for the operator alone.
func TestSlots_AreDivided(t *testing.T) {
	slots := NewSlots(Divide(8))
	var releases []func()
	take := func(family int64, want bool) {
		t.Helper()
		release, isFree := slots.Take(family)
		if isFree != want {
			t.Errorf("family %d takes one more: %v, want %v", family, isFree, want)
		}
		if isFree {
			releases = append(releases, release)
		}
	}
	for range 4 {
		take(7, true)
	}
	take(7, false)
	take(8, true)
	take(8, true)
	take(9, false)
	take(Operator, true)
	take(Operator, true)
	take(Operator, false)
	for _, release := range releases {
		release()
		release()
	}
	if slots.taken.All != 0 || slots.taken.Others != 0 || len(slots.family) != 0 {
		t.Errorf("left: %+v, %v", slots.taken, slots.family)
	}
	take(7, true)
}
