package intake

import "testing"

// A tree has half of the slots, and a quarter is for the operator alone.
func TestSlots_AreDivided(t *testing.T) {
	slots := NewSlots(Divide(8))
	var releases []func()
	take := func(tree int64, want bool) {
		t.Helper()
		release, isFree := slots.Take(tree)
		if isFree != want {
			t.Errorf("tree %d takes one more: %v, want %v", tree, isFree, want)
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
	if slots.usage.All != 0 || slots.usage.Others != 0 || len(slots.trees) != 0 {
		t.Errorf("left: %+v, %v", slots.usage, slots.trees)
	}
	take(7, true)
}
